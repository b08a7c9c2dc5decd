// class: real
/** Live tails over two whole gateways. */
import t from 'tap';
import { eventually } from '../../support/eventually.ts';
import { speaksFor, watch as watchAt, type Watch } from '../../support/live-watch.ts';
import { startReplicas } from '../../support/replicas.ts';
import { rawSql } from '../../support/store.ts';
import type { Scope } from '../../support/servers.ts';

const replicas = await startReplicas(t);
const sql = rawSql(t, replicas.databaseUrl);
const parent = await replicas.parent();

/** Opens a stream on the first replica. */
function watch(t: Scope, query?: string, headers?: Readonly<Record<string, string>>): Promise<Watch> {
  return watchAt(t, replicas.internalOrigin, query, headers);
}

/** Waits until a tail speaks for both replicas. */
function everywhere(tail: Watch): Promise<void> {
  return speaksFor(tail, 2);
}

async function tails(): Promise<number> {
  return (await sql`select from tail`).length;
}

t.test('a tail on one replica shows the requests of both, and says for which it speaks', async (t) => {
  const tail = await watch(t);
  t.match(tail, {
    status: 200,
    headers: { 'content-type': /^text\/event-stream/, 'cache-control': 'no-store' },
  });
  await eventually(() => tail.states().length > 0);
  t.match(tail.states()[0], { replicas: { length: 1 }, sampled: false, dropped: 0 });
  await everywhere(tail);
  await replicas.manage('GET', '/on-the-first?secret=canary', { key: parent.key });
  await replicas.call('GET', '/on-the-other', { key: parent.key });
  await parent.call('GET', '/by-external-id/private-name');
  await eventually(() => tail.lines().length >= 3);
  const [first, other, management] = [
    '/on-the-first',
    '/on-the-other',
    '/v1/sub-accounts/by-external-id/:external_id',
  ].map((path) => tail.lines().find((line) => line['path'] === path));
  const shown = { method: 'GET', status: 200, code: null, account_id: parent.id, api_key_id: parent.keyId };
  t.match(first, { ...shown, route: '/', resolved_tenant: parent.id, parent_id: null, ms: Number });
  t.match(other, shown);
  t.match(management, { status: 405, code: 'method_not_allowed' });
  t.not(first?.['replica_id'], other?.['replica_id']);
  t.same(new Set(tail.states().at(-1)?.replicas), new Set([first?.['replica_id'], other?.['replica_id']]));
  t.notMatch(tail.text(), /canary|private-name/);
  t.notOk(tail.text().includes(parent.key));
});

t.test('a filter that nothing can match is rejected', async (t) => {
  for (const query of ['?account_id=x', '?api_key_id=x', '?code=', '?nope=1'])
    t.match(await watch(t, query), { status: 400 }, query);
});

t.test('a flood is shown in part, and the state counts what is left out', async (t) => {
  const tail = await watch(t, '?code=invalid_api_key');
  await everywhere(tail);
  await replicas.call('GET', '/served', { key: parent.key });
  for (let i = 0; i < 20; i++)
    await Promise.all(
      Array.from({ length: 20 }, () => replicas.call('GET', '/flood', { key: 'unknown-unknown-unknown' })),
    );
  const done = (): boolean => tail.lines().length + (tail.states().at(-1)?.dropped ?? 0) === 400;
  await eventually(done);
  t.ok(tail.lines().length >= 50, `${tail.lines().length} of 400 are shown`);
  t.ok(
    tail.lines().every(({ code }) => code === 'invalid_api_key'),
    'of its filter alone',
  );
  t.ok(tail.states().some(({ sampled }) => sampled));
  await eventually(() => tail.states().at(-1)?.sampled === false);
});

t.test('when the client leaves, nothing of its tail is left', async (t) => {
  const tail = await watch(t);
  await everywhere(tail);
  tail.leave();
  await eventually(async () => (await tails()) === 0);
  t.equal((await sql`select from tail_line`).length, 0);
  t.equal((await sql`select from tail_replica`).length, 0);
});

t.test('a ninth tail is rejected, and has room when another has ended', async (t) => {
  // One after the other: of several at once, each may find every free place taken by another and be rejected.
  const open = [];
  for (let i = 0; i < 8; i++) open.push(await watch(t));
  t.same(
    open.map(({ status }) => status),
    open.map(() => 200),
  );
  const ninth = await watch(t);
  await eventually(() => ninth.isOver());
  t.match(ninth, { status: 409, headers: { 'content-type': /problem\+json/ } });
  t.match(ninth.text(), 'limit_reached');
  open[0]?.leave();
  await eventually(async () => (await tails()) < 8);
  t.equal((await watch(t)).status, 200);
});

t.test('a HEAD opens no tail, and a request without a token neither', async (t) => {
  await eventually(async () => (await tails()) === 0);
  const head = await replicas.operator('HEAD', '/live');
  t.match(head, { status: 200, headers: { 'content-type': /^text\/event-stream/ } });
  t.equal((await watch(t, '', {})).status, 401);
  t.equal(await tails(), 0);
});

t.test('the stream ends when the session of its operator does', async (t) => {
  const signedIn = await replicas.operator('POST', '/session');
  const cookie = signedIn.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const tail = await watch(t, '', { cookie });
  t.equal(tail.status, 200);
  await eventually(() => tail.states().length > 0);
  const headers = { cookie, 'x-csrf-token': String(signedIn.body['csrf_token']) };
  t.equal((await replicas.internal('DELETE', '/admin/v1/session', { headers })).status, 204);
  await eventually(() => tail.isOver());
  await eventually(async () => (await tails()) === 0);
  t.pass();
});
