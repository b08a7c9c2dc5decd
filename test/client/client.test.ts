// class: app
/** The client of the management API, against a real server that says what it is told to. */
import t, { type Test } from 'tap';
import { ProblemError, TenancyClient } from '../../src/client/client.ts';
import { startApis } from '../support/apis.ts';
import { startUpstream } from '../support/upstreams.ts';

/** What the server says to one request after the other; `null` breaks the connection. */
type Answer = { status: number; body?: object; headers?: Record<string, string> } | null;

async function start(t: Test, ...answers: Answer[]) {
  const upstream = await startUpstream(t, (_request, response) => {
    const answer = answers.shift();
    if (!answer) return response.socket?.destroy();
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body && JSON.stringify(answer.body));
  });
  const client = new TenancyClient({ baseUrl: `${upstream.url}/`, apiKey: 'key' });
  return { client, received: upstream.received };
}

const soon = { 'retry-after': '0' };

t.test('a call is sent again after 429, 503 and a broken connection, as the same one', async (t) => {
  const { client, received } = await start(
    t,
    { status: 429, headers: soon },
    { status: 503, headers: soon },
    null,
    { status: 201, body: { id: 'x' } },
  );
  t.match(await client.subAccounts.create({ name: 'Ada' }), { id: 'x' });
  t.equal(received.length, 4);
  const keys = received.map(({ values }) => values('idempotency-key')[0]);
  t.match(keys[0], /^[0-9a-f-]{36}$/);
  t.equal(new Set(keys).size, 1, 'one Idempotency-Key for all of them');
  t.equal(new Set(received.map(({ body }) => body.toString())).size, 1);
  t.same(received[0]?.values('authorization'), ['Bearer key']);
});

t.test('two calls are two changes, unless they are given one key', async (t) => {
  const made = { status: 201, body: {} };
  const { client, received } = await start(t, made, made, made, made);
  for (const options of [{}, {}, { idempotencyKey: 'run-7' }, { idempotencyKey: 'run-7' }])
    await client.subAccounts.create({ name: 'Ada' }, options);
  const keys = received.map(({ values }) => values('idempotency-key')[0]);
  t.equal(new Set(keys).size, 3);
  t.same(keys.slice(2), ['run-7', 'run-7']);
});

t.test('Retry-After is waited for, and one that asks for too long is an error at once', async (t) => {
  const busy = { code: 'unavailable', status: 503, detail: 'busy' };
  const { client } = await start(
    t,
    { status: 503, headers: { 'retry-after': '1' } },
    { status: 200, body: {} },
    { status: 503, body: busy, headers: { 'retry-after': '3600' } },
  );
  const began = performance.now();
  await client.caller();
  t.ok(performance.now() - began >= 995, 'a second');
  await t.rejects(client.caller(), { code: 'unavailable', status: 503, retryAfterS: 3600 });
});

t.test('tries come to an end, and the last problem is the error', async (t) => {
  const busy = { status: 429, headers: soon, body: { code: 'too_many_requests', request_id: 'r4' } };
  const { client, received } = await start(t, busy, busy, busy, busy, busy);
  await t.rejects(client.onboarding(), { name: 'ProblemError', code: 'too_many_requests', requestId: 'r4' });
  t.equal(received.length, 4, 'one and three more');
});

t.test('what is not a problem of the gateway is an error with its status', async (t) => {
  const { client } = await start(t, { status: 404 });
  const error = await client.events.get('x').catch((error: unknown) => error);
  t.ok(error instanceof ProblemError);
  t.match(error, { status: 404, code: 'unknown', requestId: null });
});

t.test('a signal ends the wait', async (t) => {
  const { client } = await start(t, { status: 503, headers: { 'retry-after': '30' } });
  const call = client.caller({ signal: AbortSignal.timeout(50) });
  await t.rejects(call, { name: 'TimeoutError' });
});

t.test('a call of your own says as whom, and a write is not sent twice', async (t) => {
  const { client, received } = await start(
    t,
    null,
    { status: 200 },
    { status: 429, headers: soon },
    { status: 201 },
    { status: 503, headers: soon },
    null,
  );
  const ada = client.actingAs('ext:ada');
  t.equal((await ada.fetch('/shipments')).status, 200, 'a read goes again after a broken connection');
  const write = { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } };
  t.equal((await ada.fetch('/shipments', write)).status, 201, 'a write after 429');
  t.equal((await ada.fetch('/shipments', write)).status, 503, 'and not after 503');
  await t.rejects(ada.fetch('/shipments', write), 'nor after a broken connection');
  t.equal(received.length, 6);
  for (const { values } of received)
    t.same([values('x-service-acting-tenant'), values('authorization')], [['ext:ada'], ['Bearer key']]);
  t.same(received[2]?.values('content-type'), ['text/plain']);
});

/** A client of https://api.example.com that sends nothing, and the URLs that it would have sent requests to. */
function recording() {
  const sent: URL[] = [];
  const client = new TenancyClient({
    ...{ baseUrl: 'https://api.example.com', apiKey: 'key' },
    fetch: (url) => {
      sent.push(new URL(url));
      return Promise.resolve(Response.json({ data: [], next_cursor: null }));
    },
  });
  return { client, sent };
}

t.test('an id that is empty or a dot segment calls no other operation', async (t) => {
  const { client, sent } = recording();
  const id = '0197f8a6-6d2c-7f6b-8a57-2a3b4c5d6e7f';
  const calls: readonly ((id: string) => Promise<unknown>)[] = [
    (wrong) => client.subAccounts.put(wrong, { name: 'Ada' }),
    (wrong) => client.subAccounts.get(wrong),
    (wrong) => client.subAccounts.deactivate(wrong),
    (wrong) => client.subAccounts.delete(wrong),
    (wrong) => client.apiKeys.get(id, wrong),
    (wrong) => client.apiKeys.revokeAll(wrong),
    (wrong) => client.apiKeys.list(wrong).next(),
    (wrong) => client.events.get(wrong),
    (wrong) => client.portalSessions.end(wrong),
  ];
  for (const call of calls) {
    for (const wrong of ['', '.', '..']) await t.rejects(call(wrong), TypeError, `${String(call)} ${wrong}`);
    t.same(sent, []);
    await call('...');
    t.match(sent.pop()?.pathname, /\/\.\.\.(?:\/|$)/, 'the control');
  }
});

t.test('the key goes to the host of the base URL only, whatever the path', async (t) => {
  const { client, sent } = recording();
  for (const path of ['@evil.example/x', '.evil.example/x', ':1@evil.example/', 'v1', ' /v1', '', '\\\\evil'])
    await t.rejects(client.actingAs('self').fetch(path), TypeError, path);
  t.same(sent, []);
  for (const path of ['/v1', '//evil.example/x', '/\\evil.example', '/@evil.example', '/\t/evil.example']) {
    await client.actingAs('self').fetch(path);
    t.equal(sent.pop()?.host, 'api.example.com', path);
  }
});

t.test('against the gateway: pages as one list, filters, puts and problems', async (t) => {
  const apis = await startApis(t);
  const { key } = await apis.parent();
  const client = new TenancyClient({ baseUrl: apis.origin, apiKey: key });
  for (let i = 0; i < 7; i++)
    await client.subAccounts.create({ name: `Sub ${i}`, metadata: { odd: String(i % 2) } });
  const names: string[] = [];
  for await (const { name } of client.subAccounts.list({ limit: 2, metadata: { odd: '1' } }))
    names.push(name);
  t.same(names, ['Sub 5', 'Sub 3', 'Sub 1']);
  const put = await client.subAccounts.put('cus/42', { name: 'Ada' });
  t.match(put, { external_id: 'cus/42' });
  t.match(await client.subAccounts.update(put.id, { name: 'Ada L.' }), { name: 'Ada L.' });
  t.match(await client.subAccounts.deactivate(put.id), { status: 'deactivated' });
  t.match(await client.subAccounts.reactivate(put.id), { status: 'active' });
  const gone = await client.subAccounts.create({ name: 'Gone' });
  await client.subAccounts.deactivate(gone.id);
  t.equal(await client.subAccounts.delete(gone.id), undefined);
  t.match(await client.subAccounts.delete(gone.id).catch((error: unknown) => error), { code: 'not_found' });
  await t.rejects(client.subAccounts.create({ name: '' }), {
    code: 'invalid_request',
    problem: { errors: [{ pointer: '/name' }] },
  });
  t.match(await client.acting({ path: '/nowhere', acting_tenant: 'ext:cus/42' }), { decision: 'refuse' });
  t.match(await client.caller(), { active_sub_accounts: 8 });
  for await (const event of client.events.list({ sub_account_id: put.id })) {
    t.same(await client.events.get(event.id), event);
    break;
  }
});
