// class: real
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import t from 'tap';
import { openPostgres } from '../../../src/adapters/postgres/store.ts';
import type { Barrier } from '../../../src/ports/barrier.ts';
import { startApis } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import type { HttpResponse } from '../../support/http-client.ts';
import { elsewhere, once, subAccounts } from '../../support/idempotent-calls.ts';
import { freshStore, rawSql } from '../../support/store.ts';
import { unhurried } from '../../support/unhurried.ts';

const { url, store } = await freshStore(t, unhurried);
/** Two instances over one database: for tests that do not care which of them they ask. */
const apis = await startApis(t, { store });
const secondStore = openPostgres({ url, maxConnections: 4, ...unhurried });
t.teardown(() => secondStore.close());
const second = await startApis(t, { store: secondStore });
const sql = rawSql(t, url);

t.test('of many at once exactly one takes effect; the others are told of it, or to wait', async (t) => {
  const parent = await apis.parent();
  const key = randomUUID();
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      once(i % 2 ? parent.call : elsewhere(second, parent), key)('', { name: 'Once' }),
    ),
  );
  const made = responses.filter(({ status }) => status === 201);
  t.equal(made.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1);
  t.equal(new Set(made.map(({ text }) => text)).size, 1);
  for (const response of responses.filter(({ status }) => status !== 201)) {
    t.match(response, {
      status: 409,
      body: { code: 'idempotency_in_flight' },
      headers: { 'retry-after': /^\d+$/ },
    });
  }
  t.equal((await subAccounts(parent)).length, 1);
});

t.test('while the first one is at work the second is told so at once, and not made to wait', async (t) => {
  const parent = await apis.parent();
  const key = randomUUID();
  let first: Promise<HttpResponse> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from account where id = ${parent.id} for update`;
    first = once(parent.call, key)('', { name: 'Slow' });
    await eventually(async () => (await waiting()) > 0);
    t.match(await once(elsewhere(second, parent), key)('', { name: 'Slow' }), {
      status: 409,
      body: { code: 'idempotency_in_flight' },
      headers: { 'retry-after': '1' },
    });
    t.equal(await waiting(), 1, 'the first one still waits');
  });
  const response = await first;
  t.equal(response?.status, 201);
  t.equal((await once(elsewhere(second, parent), key)('', { name: 'Slow' })).text, response?.text);
});

/** Statements of this database that wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await rawWaiting`select count(*) as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return Number(row?.['n']);
}
const rawWaiting = rawSql(t, url);

t.test(
  'a writer that dies between commit and response: the next one gives the response it owed',
  async (t) => {
    const dying = openPostgres({ url, maxConnections: 8, ...unhurried });
    t.teardown(() => dying.close());
    let committed = (): void => undefined;
    const commit = new Promise<void>((resolve) => (committed = resolve));
    const never: Barrier = {
      enforced: () => {
        committed();
        return new Promise(() => undefined);
      },
    };
    const first = await startApis(t, { store: dying, deps: { barrier: never } });
    const parent = await apis.parent();
    const key = randomUUID();
    const lost = httpRequest(`${first.origin}/v1/sub-accounts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${parent.key}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
    });
    const ended = new Promise((resolve) => lost.on('error', resolve).on('response', resolve));
    lost.end(JSON.stringify({ name: 'Owed' }));
    await commit;
    await dying.close();
    lost.destroy();
    t.ok((await ended) instanceof Error, 'no response was sent');

    const before = second.waitedFor.length;
    const again = await once(elsewhere(second, parent), key)('', { name: 'Owed' });
    t.match(again, { status: 201, body: { name: 'Owed' }, headers: { 'idempotency-replayed': 'true' } });
    t.match(again.headers, { 'x-service-enforced': /^replicas=/ }, 'its 2xx means the same');
    t.ok(second.waitedFor.length > before);
    t.match(await subAccounts(parent), [{ id: again.body['id'] }]);
  },
);

t.test('a writer that dies before its commit leaves nothing: the next one does the work', async (t) => {
  const parent = await apis.parent();
  const key = randomUUID();
  let first: Promise<HttpResponse> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from account where id = ${parent.id} for update`;
    first = once(parent.call, key)('', { name: 'Lost' });
    await eventually(async () => (await waiting()) > 0);
    await rawWaiting`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
  });
  t.match(await first, { status: 503, body: { code: 'unavailable' } });
  const again = await once(elsewhere(second, parent), key)('', { name: 'Lost' });
  t.equal(again.status, 201);
  t.equal(again.headers['idempotency-replayed'], undefined);
  t.equal((await subAccounts(parent)).length, 1);
});
