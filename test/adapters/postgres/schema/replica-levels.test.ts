// class: app
/** Replicas of several versions on one database: what an older one cannot enforce is not promised. */
import t from 'tap';
import { Connection } from '../../../../src/adapters/postgres/connection/connection.ts';
import { connectByUrl, type Sql } from '../../../../src/adapters/postgres/connection/sql.ts';
import { digestSecret } from '../../../../src/domain/api-key.ts';
import { noLimits } from '../../../../src/domain/limits/limits.ts';
import { ProblemError } from '../../../../src/domain/problem.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Scope } from '../../../support/servers.ts';
import {
  createKey,
  createParent,
  createSub,
  freshStore,
  newAccountId,
  newKeyId,
  rawSql,
} from '../../../support/store.ts';

/** Registers or renews as 0.1.0 does. */
function registerOld(
  sql: Pick<Sql, 'unsafe'>,
  id = 'old',
  version: string | null = '0.1.0',
): Promise<unknown> {
  return sql.unsafe('select replica_register($1, $2, 3000, $3, null, false)', [
    id,
    `nonce of ${id}`,
    version,
  ]);
}

/** Registers or renews as 0.2.0 does. */
function register020(sql: Pick<Sql, 'unsafe'>, id = 'of-020'): Promise<unknown> {
  return sql.unsafe(`select replica_renew($1, $2, 3000, '0.2.0', null, false, null)`, [id, `nonce of ${id}`]);
}

/** A change that only this version can enforce, through a connection as the store has them. */
function changer(t: Scope, url: string): () => Promise<unknown> {
  const connection = new Connection(connectByUrl(url, 10_000));
  t.teardown(() => connection.close());
  return () => connection.run((sql) => sql`select fleet_require(3)`, 60_000);
}

async function waitsForLock(sql: Sql): Promise<void> {
  await eventually(async () => {
    const [row] = await sql`select from pg_locks where locktype = 'advisory' and not granted and database =
      (select oid from pg_database where datname = current_database())`;
    return row !== undefined;
  });
}

t.test(
  'what an older replica could not enforce is 503 and names its version, until it is gone',
  async (t) => {
    const { url, store } = await freshStore(t);
    const sql = rawSql(t, url);
    const change = changer(t, url);
    await store.log.register({
      id: 'new',
      nonce: 'n',
      leaseMs: 3_000,
      note: { version: '9.9.9', host: 'h', leaving: false },
    });
    await registerOld(sql, 'old');
    await registerOld(sql, 'oldest', null);

    const rejection: unknown = await change().catch((error: unknown) => error);
    t.match(rejection, ProblemError);
    const { problem } = rejection as ProblemError;
    t.match(problem, { code: 'unavailable', retryAfter: Number, detail: /\(0\.1\.0, before 0\.1\.0\)/ });
    t.notMatch(problem.detail, '9.9.9');

    await store.log.removeReplica('old', 'nonce of old');
    t.match(await change().catch((error: unknown) => error), { problem: { detail: /\(before 0\.1\.0\)/ } });
    await sql`delete from replica where id = 'oldest'`;
    await change();
  },
);

t.test(
  'a key with a prefix that an older replica takes for a mistyped one is not minted beside it',
  async (t) => {
    const { url, store } = await freshStore(t);
    const sql = rawSql(t, url);
    const { id } = await createParent(store.tenants);
    await registerOld(sql);
    await createKey(store.tenants, id);
    t.match(await createKey(store.tenants, id, { prefix: 'acme_abcd' }).catch((error: unknown) => error), {
      problem: { code: 'unavailable', detail: /\(0\.1\.0\)/ },
    });
    t.equal((await store.tenants.listKeys(id, { limit: 10 })).rows.length, 1);
    await sql`delete from replica`;
    await createKey(store.tenants, id, { prefix: 'acme_abcd' });
    t.match(await registerOld(sql).catch((error: unknown) => error), { code: 'TG002' });
  },
);

t.test(
  'keys of any format are not imported beside a replica that takes them for mistyped ones',
  async (t) => {
    const { url, store } = await freshStore(t);
    const sql = rawSql(t, url);
    const { id } = await createParent(store.tenants);
    const key = {
      ...{
        id: newKeyId(),
        owner: id,
        name: 'Theirs',
        scopes: [],
        prefix: null,
        last4: null,
        expiresAt: null,
      },
      digest: digestSecret('a key of theirs'),
    };
    await registerOld(sql);
    const { seq } = await store.log.replicas();
    t.match(await store.tenants.importKeys(id, [key], 10).catch((error: unknown) => error), {
      problem: { code: 'unavailable', detail: /\(0\.1\.0\)/, retryAfter: Number },
    });
    t.same((await store.tenants.listKeys(id, { limit: 10 })).rows, []);
    t.equal((await store.log.replicas()).seq, seq);
    await sql`delete from replica`;
    t.match(await store.tenants.importKeys(id, [key], 10), { value: { imported: 1 } });
    t.match(await registerOld(sql).catch((error: unknown) => error), { code: 'TG002' });
  },
);

t.test('limits are not set beside a replica that does not keep them, whatever they are of', async (t) => {
  const { url, store } = await freshStore(t);
  const sql = rawSql(t, url);
  const { tenants, log } = store;
  const { id } = await createParent(tenants);
  const sub = (await createSub(tenants, id)).value.id;
  const { key } = await createKey(tenants, sub);
  await log.register({
    id: 'new',
    nonce: 'n',
    leaseMs: 3_000,
    note: { version: '9.9.9', host: 'h', leaving: false },
  });
  await registerOld(sql);
  const limits = { requestsPerSecond: 5 };
  const settings: Readonly<Record<string, () => Promise<unknown>>> = {
    'of a parent': () => tenants.updateParent(id, { limits }),
    'of a sub-account': () => tenants.updateSubAccount(id, sub, { limits }),
    'of a new sub-account': () => createSub(tenants, id, { limits }),
    'of one that is put': () =>
      tenants.putSubAccount(id, 'put', { id: newAccountId(), name: 'N', metadata: {}, limits }, 10),
    'of a key': () => tenants.updateKey(sub, key.id, { limits }),
    'of a new key': () => createKey(tenants, sub, { limits }),
  };
  const { seq } = await log.replicas();
  for (const [name, set] of Object.entries(settings))
    t.match(
      await set().catch((error: unknown) => error),
      { problem: { code: 'unavailable', detail: /\(0\.1\.0\)/, retryAfter: Number } },
      name,
    );
  t.equal((await log.replicas()).seq, seq);
  t.equal((await tenants.getSubAccount(id, sub))?.limits.requestsPerSecond, null);
  t.match(await tenants.updateSubAccount(id, sub, { limits: { burst: null }, name: 'New' }), {
    value: { name: 'New' },
  });

  await log.removeReplica('old', 'nonce of old');
  for (const [name, set] of Object.entries(settings)) t.ok(await set(), name);
  t.match(await registerOld(sql).catch((error: unknown) => error), { code: 'TG002' });
  await log.register({ id: 'newer', nonce: 'n', leaseMs: 3_000 });
  t.pass('a replica of this version can');
});

t.test('plans are not used beside a replica that does not know them, and none registers after', async (t) => {
  const { url, store } = await freshStore(t);
  const sql = rawSql(t, url);
  const { tenants, log } = store;
  const { id } = await createParent(tenants);
  const terms = {
    limits: { ...noLimits, requestsPerSecond: 5 },
    ...{ maxSubAccounts: null, maxApiKeys: null },
  };
  await tenants.putPlan('gold', terms);
  await sql`update fleet set level = 2`;
  await log.register({ id: 'new', nonce: 'n', leaseMs: 3_000 });
  await register020(sql);
  const row = { id: newAccountId(), externalId: 'e', name: 'N', metadata: {}, plan: 'gold' };
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'a new plan': () => tenants.putPlan('silver', terms),
    'a changed plan': () => tenants.putPlan('gold', { ...terms, maxApiKeys: 1 }),
    'a deleted plan': () => tenants.deletePlan('gold'),
    'a new account': () => tenants.createParent({ id: newAccountId(), name: 'N', plan: 'gold' }),
    'an account': () => tenants.updateParent(id, { plan: 'gold' }),
    'an import': () => tenants.importParents([row]),
    'a lifted limit': () => tenants.updateParent(id, { limits: { requestsPerDay: 'unlimited' } }),
    'a limit of units': () => tenants.updateParent(id, { limits: { unitsPerMonth: 5 } }),
    'a lifted maximum': () => tenants.updateParent(id, { maxApiKeys: 'unlimited' }),
  };
  const { seq } = await log.replicas();
  for (const [name, call] of Object.entries(calls))
    t.match(
      await call().catch((error: unknown) => error),
      { problem: { code: 'unavailable', detail: /\(0\.2\.0\)/, retryAfter: Number } },
      name,
    );
  t.equal((await log.replicas()).seq, seq);
  t.same((await tenants.listPlans({ limit: 10 })).rows.length, 1, 'reading works');
  t.match(await tenants.updateParent(id, { limits: { requestsPerDay: 5 } }), { value: { id } });

  await log.removeReplica('of-020', '2:nonce of of-020');
  t.match(await tenants.updateParent(id, { plan: 'gold' }), { value: { plan: 'gold' } });
  t.match(
    await register020(sql).catch((error: unknown) => error),
    { code: 'TG002' },
    'it starts beside plans in force: it gets no lease, so it serves nothing',
  );
  await log.register({ id: 'newer', nonce: 'n', leaseMs: 3_000 });
});

t.test(
  'beside such a replica no account is given a plan that does not exist; later that is a mistake',
  async (t) => {
    const { url, store } = await freshStore(t);
    const sql = rawSql(t, url);
    const { tenants } = store;
    const { id } = await createParent(tenants);
    await register020(sql);
    const row = { id: newAccountId(), externalId: 'e', name: 'N', metadata: {}, plan: 'none' };
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      'a new account': () => tenants.createParent({ id: newAccountId(), name: 'N', plan: 'none' }),
      'an account': () => tenants.updateParent(id, { plan: 'none' }),
      'an import': () => tenants.importParents([row]),
    };
    for (const [name, call] of Object.entries(calls))
      t.match(
        await call().catch((error: unknown) => error),
        { problem: { code: 'unavailable', detail: /\(0\.2\.0\)/ } },
        name,
      );
    t.match(await tenants.updateParent(id, { plan: null }), { value: { plan: null } });

    await sql`delete from replica`;
    for (const call of Object.values(calls)) await call();
    t.same((await tenants.listParents({ plan: 'none' }, { limit: 10 })).rows, []);
    await register020(sql);
    t.pass('they keep no replica out, because they stored no plan');
  },
);

t.test('an older replica cannot register between the check and the change, nor after it', async (t) => {
  const { url, store } = await freshStore(t);
  const [sql, other, looking] = [rawSql(t, url), rawSql(t, url), rawSql(t, url)];
  const change = changer(t, url);

  let changing: Promise<unknown> = Promise.resolve();
  await other.begin(async (tx) => {
    await registerOld(tx);
    changing = change().catch((error: unknown) => error);
    await waitsForLock(looking);
  });
  t.match(await changing, { problem: { code: 'unavailable' } }, 'it registers first: the change sees it');
  await sql`delete from replica`;

  let registering: Promise<unknown> = Promise.resolve();
  await other.begin(async (tx) => {
    await tx`select fleet_require(2)`;
    registering = registerOld(sql).catch((error: unknown) => error);
    await waitsForLock(looking);
    await store.log.register({ id: 'new', nonce: 'n', leaseMs: 3_000 });
    t.pass('a replica of this version does not wait for the change');
  });
  t.match(await registering, { code: 'TG002' }, 'the change was first: it cannot register');
  t.match(await registerOld(sql).catch((error: unknown) => error), { code: 'TG002' });
  t.same(
    (await store.log.replicas()).rows.map(({ id }) => id),
    ['new'],
  );

  await sql`update fleet set level = 1`;
  await registerOld(sql);
  t.pass('unless an operator gives up what it cannot enforce');
});

t.test('a change that did not come about keeps no older replica out', async (t) => {
  const { url } = await freshStore(t);
  const sql = rawSql(t, url);
  const undo = new Error('undo');
  await t.rejects(
    sql.begin(async (tx) => {
      await tx`select fleet_require(2)`;
      throw undo;
    }),
    undo,
  );
  await registerOld(sql);
  t.equal((await sql`select from replica`).length, 1);
});
