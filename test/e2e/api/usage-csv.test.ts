// class: real
import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { csvLine } from '../../../src/api/usage/csv.ts';
import type { Store } from '../../../src/adapters/postgres/store.ts';
import { operatorToken, startApis, type Apis, type Parent } from '../../support/apis.ts';
import { freshStore, rawSql } from '../../support/store.ts';
import { addUsage, april, hour, usageRow } from '../../support/usage-rows.ts';

const apis = await startApis(t);
const period = 'from=2026-04-01&to=2026-05-01';

t.test('CSV has the names of the members and all rows, as the pages of JSON have them', async (t) => {
  const parent = await apis.parent();
  const names = ['=1+1', '+49', '-1', '@SUM(A1)', 'A "quoted", name', 'plain', 'Ünïcödé 漢字'];
  for (const [i, name] of names.entries()) {
    const child = await parent.create({ name, external_id: i % 2 === 0 ? `-${i}` : null });
    await addUsage(apis, [
      usageRow(child.id, april + i * hour, { requests: i + 1, reads: i, bytesIn: 2 ** 40 }),
      usageRow(child.id, april + 30 * hour, { requests: 1, clientErrors: 1 }),
    ]);
  }
  for (const query of ['', '&granularity=day', '&granularity=hour&group_by=api_key']) {
    const pages = await parent.call('GET', `/usage?${period}${query}&limit=1000`);
    const response = await csv(apis, parent, `${period}${query}`);
    t.match(response.message.headers, {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="usage-2026-04-01-2026-05-01.csv"',
      vary: /Accept/,
      'transfer-encoding': 'chunked',
    });
    const [header = [], ...written] = parseCsv(response.body);
    const rows = pages.body['data'] as Record<string, string | number | null>[];
    t.same(header.toSorted(), Object.keys(rows[0]!).toSorted());
    t.same(
      written,
      rows.map((row) => header.map((name) => asCell(row[name] ?? null))),
      query,
    );
  }
  const operators = await csv(apis, null, `${period}&account_id=${parent.id}&group_by=account`);
  const [header, line, ...more] = parseCsv(operators.body);
  t.same(header?.slice(0, 5), ['account_id', 'sub_account_id', 'external_id', 'name', 'period_start']);
  t.same(line?.slice(0, 4), [parent.id, '', '', 'Parent']);
  t.same(more, []);
  t.equal((await csv(apis, await apis.parent(), period)).body.split('\r\n').length, 2, 'a header alone');
});

t.test('a cell is quoted as RFC 4180 says, and is no formula', async (t) => {
  const cells: [string | number | null, string][] = [
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['a\r\nb', '"a\r\nb"'],
    ['=a', "'=a"],
    ['\t=a', "'\t'=a"],
    ['x;=cmd;y', "x;'=cmd;y"],
    ['a; -1|+2', "a;' -1|'+2"],
    ['a;b-c', 'a;b-c'],
    ['x;"=cmd;"y', '"x;\'""=cmd;""y"'],
    ['"=a', '"\'""=a"'],
    ['\r=a', '"\'\r\'=a"'],
    ['=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"'],
    ['a=b', 'a=b'],
    ['', ''],
    [null, ''],
    [-1, '-1'],
  ];
  for (const [cell, written] of cells) t.equal(csvLine([cell]), `${written}\r\n`, written);
});

t.test('a client that does not prefer CSV gets JSON', async (t) => {
  const parent = await apis.parent();
  const message = await get(apis, parent, period, 'text/csv;q=0.5, */*');
  t.match(message.headers, { 'content-type': /^application\/json/, vary: /Accept/ });
  message.resume();
});

t.test('CSV has no pages, and rejects what JSON rejects', async (t) => {
  const parent = await apis.parent();
  for (const [query, pointer] of [
    ['limit=10', '?limit'],
    ['cursor=x', '?cursor'],
    ['from=yesterday', '?from'],
    ['from=2026-04-01T00:00:00%2B05:30', '?from'],
    ['from=2026-04-01&to=2026-04-01T10:30:00Z', '?to'],
  ]) {
    const { message, body } = await csv(apis, parent, query!);
    t.equal(message.statusCode, 400);
    t.match(message.headers['content-type'], /problem\+json/);
    t.match(JSON.parse(body), { errors: [{ pointer }] });
  }
  const head = await get(apis, parent, period, 'text/csv', 'HEAD');
  t.match(head.headers['content-type'], /^text\/csv/);
  t.equal(await text(head), '');
});

/** By the hour: more than the sockets between hold. */
const manyHours = 'from=2026-01-01&to=2026-12-31&granularity=hour';

const accounts = 12;
const lines = accounts * (363 * 24 + 1);

async function large(store: Store, url: string, t: Parameters<typeof rawSql>[0]) {
  let pages = 0;
  const reading = { before: (_page: number): Promise<unknown> => Promise.resolve() };
  const apis = await startApis(t, {
    store: {
      ...store,
      usage: {
        ...store.usage,
        report: async (parent, query) => {
          pages += 1;
          await reading.before(pages);
          return store.usage.report(parent, query);
        },
      },
    },
  });
  const parent = await apis.parent();
  for (let i = 1; i < accounts; i++) await parent.create();
  await rawSql(t, url)`insert into usage_hourly
    select ${parent.id}, a.id, h, ${parent.keyId}, 1, 1, 0, 0, 0, 0, 0
    from generate_series('2026-01-01'::timestamptz, '2026-12-30', interval '1 hour') h, account a`;
  return { apis, parent, reading, pages: () => pages };
}

t.test('a client that takes nothing keeps nothing of the store, and gets the rest later', async (t) => {
  const { store, url } = await freshStore(t);
  const { apis, parent, pages } = await large(store, url, t);
  const message = await get(apis, parent, manyHours, 'text/csv');
  message.once('readable', () => undefined);
  // As many as there are connections for reports, and until no other page is read beside them.
  let others = 0;
  for (let before = NaN; others < 3 || pages() !== before + 1; others++) {
    before = pages();
    t.equal((await parent.call('GET', '/usage?from=2026-01-01&to=2026-01-02')).status, 200);
  }
  t.ok(pages() - others < lines / 1000 - 10, `${pages() - others} pages were read`);
  const sent = parseCsv(await text(message));
  t.equal(sent.length, 1 + lines);
  t.equal(new Set(sent.map(([account, , , at]) => `${account} ${at}`)).size, sent.length, 'each once');
});

t.test('CSV that could not be read to its end does not look whole', async (t) => {
  const { store, url } = await freshStore(t);
  const { apis, parent, reading } = await large(store, url, t);
  reading.before = async (page) => {
    if (page === 3) throw new Error('the store went away');
  };
  const message = await get(apis, parent, manyHours, 'text/csv');
  await t.rejects(text(message), { code: 'ECONNRESET' });
  reading.before = async () => {
    throw new Error('the store is away');
  };
  t.equal((await get(apis, parent, manyHours, 'text/csv')).statusCode, 500, 'before the first line');
});

t.test('a key that is revoked meanwhile gets no more of it', async (t) => {
  const { store, url } = await freshStore(t);
  const { apis, parent, reading, pages } = await large(store, url, t);
  reading.before = async (page) => {
    if (page === 2) await apis.operator('POST', `/accounts/${parent.id}/api-keys/${parent.keyId}/revoke`);
  };
  const message = await get(apis, parent, manyHours, 'text/csv');
  await t.rejects(text(message), { code: 'ECONNRESET' });
  t.equal(pages(), 2);
});

async function csv(apis: Apis, parent: Parent | null, query: string) {
  const message = await get(apis, parent, query, 'text/csv');
  return { message, body: await text(message) };
}

/** @param parent `null` for an operator */
async function get(
  apis: Apis,
  parent: Parent | null,
  query: string,
  accept: string,
  method = 'GET',
): Promise<IncomingMessage> {
  const path = parent === null ? `${apis.internalOrigin}/admin/v1` : `${apis.origin}/v1/sub-accounts`;
  const call = request(`${path}/usage?${query}`, {
    method,
    agent: false,
    headers: { authorization: `Bearer ${parent?.key ?? operatorToken}`, accept },
  }).end();
  const [message] = (await once(call, 'response')) as [IncomingMessage];
  return message;
}

function asCell(value: string | number | null): string {
  if (typeof value === 'string' && /^[=+\-@]/.test(value)) return `'${value}`;
  return value === null ? '' : String(value);
}

/** Reads CSV as RFC 4180 says it is written: CRLF after each line, and quotes only around whole cells. */
function parseCsv(body: string): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  while (cell.lastIndex < body.length) {
    const at = cell.lastIndex;
    const match = cell.exec(body);
    if (match === null) throw new Error(`no CSV at ${at}: ${body.slice(at, at + 50)}`);
    line.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === ',') continue;
    lines.push(line);
    line = [];
  }
  return lines;
}
