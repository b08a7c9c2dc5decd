// class: app, alone
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { createReadStream, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { authorizationSchemes } from '../../src/domain/authorization.ts';
import { accessLog } from '../../src/ops/access-log.ts';
import { openLog, type Log } from '../../src/ops/logger.ts';
import type { RequestRecord } from '../../src/ports/request-record.ts';
import { credentialForms } from '../support/credential-forms.ts';
import { eventually } from '../support/eventually.ts';
import { tempFolder } from '../support/process.ts';
import { requestRecord } from '../support/request-record.ts';
import type { Scope } from '../support/servers.ts';

const answered = requestRecord({
  ...{ requestId: '4bf92f3577b34da6a3ce929d0e0e4736', method: 'POST', path: '/v1/shipments', status: 201 },
  keyId: '01a1fc56-28c1-7000-8000-000000000001',
  resolvedTenant: '01a1fc56-28c1-7000-8000-000000000002',
  reason: 'sub-account',
  ...{ durationMs: 12.345, upstreamMs: 11.06, bytesIn: 7, bytesOut: 1_234 },
  caller: '01a1fc56-28c1-7000-8000-000000000003',
  head: {
    rawHeaders: ['Host', 'a', 'User-Agent', 'curl/8.5.0', 'Authorization', 'Bearer not-one-of-ours'],
    socket: { remoteAddress: '::ffff:192.0.2.1' },
  },
});
const noon = { wallMs: () => Date.UTC(2026, 0, 2, 12) };

t.test('a request is one line of JSON with these fields and no others', async (t) => {
  const { log, lines } = logIn(t);
  accessLog(log.logger, { clock: noon })?.(answered);
  await closed(log);
  t.equal(
    lines()[0],
    '{"level":"info","time":"2026-01-02T12:00:00.000Z","request_id":"4bf92f3577b34da6a3ce929d0e0e4736",' +
      '"method":"POST","path":"/v1/shipments","route":"/","status":201,' +
      '"key_id":"01a1fc56-28c1-7000-8000-000000000001","caller":"01a1fc56-28c1-7000-8000-000000000003","tenant":"01a1fc56-28c1-7000-8000-000000000002",' +
      '"reason":"sub-account","ms":12.3,"upstream_ms":11.1,"bytes_in":7,"bytes_out":1234,' +
      '"address":"192.0.2.1","user_agent":"curl/8.5.0","msg":"request"}',
  );
});

t.test('of a key that is not known the line has the length, and nothing else', async (t) => {
  const { log, lines } = logIn(t);
  const observe = accessLog(log.logger);
  const rejected = {
    ...answered,
    status: 401,
    keyId: null,
    caller: null,
    resolvedTenant: null,
    reason: null,
  };
  observe?.({ ...rejected, code: 'invalid_api_key' });
  observe?.({ ...rejected, code: 'api_key_revoked', keyId: answered.keyId });
  await closed(log);
  const [unknown = '', revoked = ''] = lines();
  t.match(JSON.parse(unknown), { key_length: 'not-one-of-ours'.length });
  t.notMatch(revoked, /key_length/);
  t.match(JSON.parse(revoked), { key_id: answered.keyId });
  t.notMatch(unknown + revoked, /not-one-of-ours/);

  const other = logIn(t);
  const head = { ...answered.head, rawHeaders: ['x-api-key', 'acme_live_1'] };
  accessLog(other.log.logger, { keyHeaders: ['X-API-Key'] })?.({
    ...rejected,
    code: 'invalid_api_key',
    head,
  });
  await closed(other.log);
  t.match(JSON.parse(other.lines()[0] ?? ''), { key_length: 'acme_live_1'.length });
});

t.test('in every scheme the length is that of the key, and no form of the key is told', async (t) => {
  const key = 'tgw_0YzHNzcLGvuqI2WnXT8om15aTnQDlgoiK27LRHZ';
  const { log, lines } = logIn(t);
  const observe = accessLog(log.logger, { schemes: authorizationSchemes });
  const values = Object.values(credentialForms).map(({ of }) => of(key));
  for (const value of [...values, 'Digest x'])
    observe?.({
      ...answered,
      status: 401,
      code: 'invalid_api_key',
      head: { ...answered.head, rawHeaders: ['Authorization', value] },
    });
  await closed(log);
  const lengths = lines().map((line) => (JSON.parse(line) as Record<string, unknown>)['key_length']);
  t.strictSame(lengths, [...values.map(() => key.length), undefined]);
  for (const secret of [key, ...values.map((value) => value.split(' ')[1] ?? '')])
    t.notOk(lines().join('\n').includes(secret));
});

t.test('whatever a client writes, the line is the one pino would write', async (t) => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const maybe = fc.option(text);
  const ms = fc.double({ min: 0, max: 1e6, noNaN: true });
  const any = fc.record({
    requestId: text,
    method: text,
    path: fc.oneof(text, fc.string({ minLength: 1020, maxLength: 1030 })),
    route: text,
    status: fc.integer({ min: 100, max: 599 }),
    code: maybe as fc.Arbitrary<RequestRecord['code']>,
    keyId: maybe,
    resolvedTenant: maybe,
    reason: maybe as fc.Arbitrary<RequestRecord['reason']>,
    durationMs: ms,
    upstreamMs: fc.option(ms),
    bytesIn: fc.option(fc.nat()),
    bytesOut: fc.option(fc.nat()),
    caller: maybe,
    head: fc.record({
      rawHeaders: fc
        .array(fc.tuple(fc.constantFrom('user-agent', 'User-Agent', 'x'), text))
        .map((all) => all.flat()),
      socket: fc.record({ remoteAddress: fc.option(text, { nil: undefined }) }),
    }),
  });
  const records = fc.sample(any, 2_000);
  const { log, lines } = logIn(t);
  const observe = accessLog(log.logger);
  for (const record of records) {
    observe?.(record);
    log.logger.info(asPinoWants(record), 'request');
  }
  await closed(log);
  const withoutTime = lines().map((line) => line.replace(/"time":"[^"]+",/, ''));
  t.equal(withoutTime.length, 2 * records.length, 'no text breaks a line');
  const different = records.filter((_, i) => withoutTime[2 * i] !== withoutTime[2 * i + 1]);
  t.same(different, []);
});

t.test('lines stand in the order in which they were written, and wait for no others', async (t) => {
  const { log, lines } = logIn(t);
  const observe = accessLog(log.logger);
  observe?.({ ...answered, path: '/1' });
  log.logger.warn('2');
  await eventually(() => lines().length === 2);
  observe?.({ ...answered, path: '/3' });
  await eventually(() => lines().length === 3);
  for (let i = 4; i < 200; i++) observe?.({ ...answered, path: `/${i}` });
  await closed(log);
  const said = lines().map((line) => JSON.parse(line) as { path?: string; msg: string });
  t.same(
    said.map(({ path, msg }) => path ?? `/${msg}`),
    Array.from({ length: 199 }, (_, i) => `/${i + 1}`),
  );
});

t.test('with a share, so many of the ordinary requests have a line; all others do', async (t) => {
  const { log, lines } = logIn(t);
  const draws = [0.09, 0.1, 0.11, 0.99, 0];
  const random = (): number => draws.shift() ?? 0.99;
  const observe = accessLog(log.logger, { sample: { share: 0.1, random } });
  const write = (path: string, more: Partial<RequestRecord> = {}) =>
    observe?.({ ...answered, path, ...more });
  for (const path of ['/0.09', '/0.1', '/0.11', '/0.99', '/0']) write(path);
  for (const status of [101, 304, 401, 404, 429, 499, 500, 503]) write(`/${status}`, { status });
  write('/cut', { status: 200, code: 'cut_by_upstream' });
  write('/withdrawn', { status: 200, code: 'withdrawn' });
  write('/login', { reason: null, caller: null });
  write('/v1/sub-accounts', { reason: null, upstreamMs: null });
  await closed(log);
  const paths = lines().map((line) => (JSON.parse(line) as { path: string }).path);
  const others = ['/101', '/304', '/401', '/404', '/429', '/499', '/500', '/503'];
  t.same(paths, ['/0.09', '/0', ...others, '/cut', '/withdrawn', '/v1/sub-accounts']);
});

t.test('a share of 0 leaves out every ordinary request, and draws hold to the share', async (t) => {
  const { log, lines } = logIn(t);
  const none = accessLog(log.logger, { sample: { share: 0, random: () => 0 } });
  for (let i = 0; i < 100; i++) none?.(answered);
  const half = accessLog(log.logger, { sample: { share: 0.5, random: Math.random } });
  for (let i = 0; i < 4_000; i++) half?.(answered);
  await closed(log);
  t.ok(lines().length > 1_750 && lines().length < 2_250, `${lines().length} of 4000`);
});

t.test(
  'a reader who stops reading costs lines, which the log says, and no more memory than that',
  async (t) => {
    const pipe = join(tempFolder(t), 'pipe');
    execFileSync('mkfifo', [pipe]);
    // Open for both, so that it opens without a reader.
    const log = openLog('info', openSync(pipe, 'r+'));
    const observe = accessLog(log.logger);
    const before = process.memoryUsage().rss;
    // Some 60 MB of lines.
    for (let i = 0; i < 200_000; i++) observe?.(answered);
    t.ok(process.memoryUsage().rss - before < 100e6);
    let read = '';
    const reader = createReadStream(pipe, 'utf8').on(
      'data',
      (chunk) => (read = (read + chunk.toString()).slice(-10_000)),
    );
    await eventually(() => /"msg":"lines of this log were dropped: its reader does not keep up"/.test(read));
    await closed(log);
    reader.destroy();
  },
);

t.test('a level above info leaves requests out', async (t) => {
  const { log } = logIn(t, 'warn');
  t.equal(accessLog(log.logger), undefined);
});

/** A log in a file, and its lines so far. */
function logIn(t: Scope, level = 'info'): { readonly log: Log; readonly lines: () => string[] } {
  const file = join(tempFolder(t), 'log');
  const log = openLog(level, openSync(file, 'a'));
  return { log, lines: () => readFileSync(file, 'utf8').split('\n').slice(0, -1) };
}

function closed(log: Log): Promise<void> {
  return new Promise((resolve) => log.close(resolve));
}

function asPinoWants(record: RequestRecord): object {
  const { path, upstreamMs } = record;
  const tenths = (ms: number): number => Math.round(ms * 10) / 10;
  return {
    request_id: record.requestId,
    method: record.method,
    path: path.length > 1024 ? `${path.slice(0, 1024)}…` : path,
    route: record.route,
    status: record.status,
    code: record.code ?? undefined,
    key_id: record.keyId ?? undefined,
    caller: record.caller ?? undefined,
    tenant: record.resolvedTenant ?? undefined,
    reason: record.reason ?? undefined,
    ms: tenths(record.durationMs),
    upstream_ms: upstreamMs === null ? undefined : tenths(upstreamMs),
    bytes_in: record.bytesIn ?? undefined,
    bytes_out: record.bytesOut ?? undefined,
    address: record.head.socket.remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/, ''),
    user_agent: firstUserAgent(record),
  };
}

function firstUserAgent({ head: { rawHeaders } }: RequestRecord): string | undefined {
  const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'user-agent');
  return at === -1 ? undefined : rawHeaders[at + 1];
}
