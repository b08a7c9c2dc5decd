// class: real
import t from 'tap';
import { storeFailure } from '../../../src/adapters/postgres/connection/failure.ts';
import { factKey } from '../../../src/ports/facts.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres.ts';
import { createParent, freshStore, problemCode, rawSql, storeAt } from '../../support/store.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';

const deadlines = { coherenceMs: 2_000, queryMs: 3_000 };

t.test('a server that is not there makes calls fail, not the opening', async (t) => {
  const store = storeAt(t, 'postgres://user@127.0.0.1:1/none');
  const calls = [store.ping(), store.log.replicas(), createParent(store.tenants), store.migrate()];
  t.same(
    await Promise.all(calls.map(problemCode)),
    calls.map(() => 'unavailable'),
  );
});

t.test('a server that is frozen fails every call by its deadline, and works when it is back', async (t) => {
  const server = await startPostgres(t);
  const store = storeAt(t, server.url, { maxConnections: 6, deadlines });
  store.log.onHint(() => undefined);
  await store.migrate();
  const parent = (await createParent(store.tenants)).id;
  const key = factKey.account(parent);
  // On open connections and on new ones.
  await server.pause();
  const calls = Array.from({ length: 20 }, () => problemCode(store.facts.readFacts([key])));
  calls.push(
    problemCode(createParent(store.tenants)),
    problemCode(store.log.replicas()),
    problemCode(store.ping()),
  );
  t.same([...new Set(await Promise.all(calls))], ['unavailable']);
  t.equal(await problemCode(store.facts.readFacts([key])), 'unavailable', 'and later calls');
  await server.resume();
  await eventually(async () => (await problemCode(store.facts.readFacts([key]))) === undefined);
});

t.test('a connection that went silent is given up for a new one', async (t) => {
  const { url } = await freshStore(t);
  const line = await TcpProxy.open(t, url);
  const store = storeAt(t, line.url, { deadlines });
  const parent = (await createParent(store.tenants)).id;
  line.silence();
  t.equal(await problemCode(store.tenants.getParent(parent)), 'unavailable');
  t.match(await store.tenants.getParent(parent), { id: parent });
});

t.test(
  'a session that was cut, or went silent, is given up for a new one, which hears of changes',
  async (t) => {
    const { url, store: writer } = await freshStore(t);
    const parent = (await createParent(writer.tenants)).id;
    const line = await TcpProxy.open(t, url);
    const store = storeAt(t, line.url, { deadlines });
    let heard: () => void = () => undefined;
    const hint = (): Promise<void> => new Promise((resolve) => (heard = resolve));
    const hears = async (status: 'active' | 'suspended'): Promise<void> => {
      const change = hint();
      await writer.tenants.setParentStatus(parent, status);
      await change;
      t.pass('heard');
    };
    const listening = hint();
    store.log.onHint(() => heard());
    await listening;

    // A cut is a hint: something may have been missed.
    const cut = hint();
    line.cut();
    await cut;
    await hears('suspended');

    line.silence();
    const listensAgain = hint();
    t.same(
      await Promise.all([1, 2, 3].map(() => problemCode(store.log.replicas()))),
      ['unavailable', 'unavailable', 'unavailable'],
      'all that is under way on it',
    );
    t.match(await store.log.replicas(), { rows: [] });
    await listensAgain;
    await hears('active');
  },
);

t.test('a connection that the server ends under a statement costs that one, and none after it', async (t) => {
  const { url, store, sql } = await freshStore(t, { maxConnections: 5 });
  const parent = (await createParent(store.tenants)).id;
  const other = rawSql(t, url);
  for (let i = 0; i < 3; i++) {
    let suspended: Promise<unknown> = Promise.resolve();
    await sql.begin(async (tx) => {
      await tx`select from account where id = ${parent} for update`;
      suspended = problemCode(store.tenants.setParentStatus(parent, 'suspended'));
      let ended = 0;
      while (ended === 0) {
        ended = (
          await other`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`
        ).length;
      }
    });
    t.equal(await suspended, 'unavailable');
    t.match(await store.tenants.getParent(parent), { id: parent, status: 'active' });
  }
});

t.test('a lock that another connection holds costs an error and not the connection', async (t) => {
  const { store, sql } = await freshStore(t, { deadlines: { queryMs: 5_000 } });
  const parent = (await createParent(store.tenants)).id;
  await sql.begin(async (tx) => {
    await tx`select from account where id = ${parent} for update`;
    await t.rejects(store.tenants.setParentStatus(parent, 'suspended'), {
      problem: { code: 'unavailable', retryAfter: 1 },
      cause: { code: '57014' },
    });
  });
  t.match(await store.tenants.setParentStatus(parent, 'suspended'), { value: { status: 'suspended' } });
});

t.test('nor does one that a statement of the lease waits for: it is given up in time', async (t) => {
  const { store, sql } = await freshStore(t, { deadlines: { coherenceMs: 5_000 } });
  const replica = { id: 'r', nonce: 'n', leaseMs: 1_000, streamsMs: 0 };
  await store.log.register(replica);
  const sessions = async (): Promise<unknown> =>
    sql`select pid from pg_stat_activity where datname = current_database() and query like '%replica_renew%'
      and pid <> pg_backend_pid()`;
  const before = await sessions();
  await sql.begin(async (tx) => {
    await tx`select from replica for update`;
    await t.rejects(store.log.register(replica), {
      problem: { code: 'unavailable', retryAfter: 1 },
      cause: { code: '57014' },
    });
  });
  await store.log.register(replica);
  t.same(await sessions(), before, 'on the connection it had');
});

t.test('a closed store rejects every call', async (t) => {
  const { store } = await freshStore(t);
  await store.close();
  t.equal(await problemCode(store.ping()), 'unavailable');
});

t.test('what the store says stays inside', (t) => {
  const codes = { '23505': 'internal', '42601': 'internal', '22003': 'internal', '22021': 'invalid_request' };
  for (const [code, expected] of Object.entries(codes)) {
    const cause = Object.assign(new Error('Key (digest)=(secret)'), { code });
    const { problem, cause: logged } = storeFailure(cause);
    t.equal(problem.code, expected);
    t.notMatch(JSON.stringify(problem), /secret|digest/);
    t.equal(logged, cause, 'but reaches the log');
  }
  for (const code of 'ECONNREFUSED CONNECTION_CLOSED 57P01 53300 25006 28P01 42P01 40P01 '.split(' ')) {
    const { problem } = storeFailure(Object.assign(new Error('x'), { code }));
    t.match(problem, { code: 'unavailable', retryAfter: 1 }, code);
  }
  t.end();
});
