/** Replicas of 0.1.0 call the functions of schema 6 by their names; one may run beside this version on one database. */
import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import type { Sql, Statements } from '../../../../src/adapters/postgres/connection/sql.ts';
import { migrate } from '../../../../src/adapters/postgres/schema/migrate.ts';
import { readMigrations } from '../../../../src/adapters/postgres/schema/migration-files.ts';
import { openPostgres, type Store } from '../../../../src/adapters/postgres/store.ts';
import { digestSecret } from '../../../../src/domain/api-key.ts';
import type { AccountId, KeyId } from '../../../../src/domain/ids.ts';
import type { IdempotencyClaim } from '../../../../src/ports/tenant-store.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import type { Scope } from '../../../support/servers.ts';
import {
  keyDraft,
  newAccountId,
  newKeyId,
  over,
  problemCode,
  rawSql,
  subAccountDraft,
} from '../../../support/store.ts';

const noLimit = 1_000;
const schemaOf010 = 6;

/** What a function of schema 6 returns, as far as these tests look. */
interface Row {
  readonly outcome: string;
  readonly seq: number | null;
  readonly account: { readonly id: AccountId; readonly status: string };
  readonly key: { readonly id: KeyId; readonly revoked_at: string | null };
}

/** The changes as 0.1.0 makes them; `claim` calls the function that stands for one request. */
function of010(sql: Statements) {
  const run = async (statement: PromiseLike<readonly unknown[]>): Promise<Row> => (await statement)[0] as Row;
  const start = ({ caller, key, fingerprint }: IdempotencyClaim) =>
    sql`${caller}, ${bytes(key)}, ${bytes(fingerprint)}`;
  return {
    async createParent(id = newAccountId()): Promise<AccountId> {
      await sql`insert into account (id, name, status, sub_accounts, active_sub_accounts)
        values (${id}, 'Parent', 'active', 0, 0)`;
      return id;
    },
    createParentOnce: (claim: IdempotencyClaim, id = newAccountId()) =>
      run(sql`select *, null as seq from account_create_parent_once(${start(claim)}, ${id}, 'Parent')`),
    createSub: (parent: AccountId, claim?: IdempotencyClaim, id = newAccountId()) =>
      claim
        ? run(
            sql`select * from account_create_sub_once(${start(claim)}, ${parent}, ${id}, 'Sub', null, '{}', ${noLimit})`,
          )
        : run(sql`select * from account_create_sub(${parent}, ${id}, 'Sub', null, '{}', ${noLimit})`),
    rename: (parent: AccountId, id: AccountId, externalId: string) =>
      run(
        sql`select * from account_update_sub(${parent}, ${id}, ${sql.json({ external_id: externalId })}, 16)`,
      ),
    setStatus: (parent: AccountId, id: AccountId, status: string, claim?: IdempotencyClaim) =>
      claim
        ? run(sql`select * from account_set_sub_status_once(${start(claim)}, ${parent}, ${id}, ${status})`)
        : run(sql`select * from account_set_sub_status(${parent}, ${id}, ${status})`),
    setParentStatus: (id: AccountId, status: string, claim?: IdempotencyClaim) =>
      claim
        ? run(sql`select * from account_set_parent_status_once(${start(claim)}, ${id}, ${status})`)
        : run(sql`select * from account_set_parent_status(${id}, ${status})`),
    createKey: (account: AccountId, claim?: IdempotencyClaim, id = newKeyId()) => {
      const rest = sql`${account}, ${id}, 'Key', '["a:b"]', ${randomBytes(32)}, ${randomBytes(32)}, 'tgw_abcd', 'wxyz',
        null, ${noLimit}`;
      return claim
        ? run(sql`select *, null as seq from api_key_create_once(${start(claim)}, ${rest})`)
        : run(sql`select * from api_key_create(${rest})`);
    },
    revokeKey: (account: AccountId, key: KeyId, claim?: IdempotencyClaim) =>
      claim
        ? run(sql`select * from api_key_revoke_once(${start(claim)}, ${account}, ${key})`)
        : run(sql`select * from api_key_revoke(${account}, ${key})`),
  };
}

function bytes(digest: string): Buffer {
  return Buffer.from(digest, 'base64url');
}

function newClaim(): IdempotencyClaim {
  return { caller: newKeyId(), key: digestSecret(randomUUID()), fingerprint: digestSecret(randomUUID()) };
}

/** A database as 0.1.0 left it, and a store of this version that has not migrated it yet. */
async function databaseOf010(
  t: Scope,
): Promise<{ readonly url: string; readonly sql: Sql; readonly store: Store }> {
  const url = await freshDatabase(t);
  const sql = rawSql(t, url);
  await sql`create table schema_migration (
    version int primary key, name text not null, checksum text not null, compatible_with int not null,
    applied_at timestamptz not null default now()
  )`;
  for (const step of (await readMigrations()).slice(0, schemaOf010)) {
    await sql.unsafe(step.text).simple();
    await sql`insert into schema_migration (version, name, checksum, compatible_with)
      values (${step.version}, ${step.name}, ${step.checksum}, ${step.compatibleWith})`;
  }
  const store = openPostgres({ url, maxConnections: 8 });
  t.teardown(() => store.close());
  return { url, sql, store };
}

t.test('what 0.1.0 did for an Idempotency-Key is replayed by this version', async (t) => {
  const { sql, store } = await databaseOf010(t);
  const old = of010(sql);
  const [founding, creating, minting, revoking, deactivating, suspending] = Array.from(
    { length: 6 },
    newClaim,
  );
  if (!founding || !creating || !minting || !revoking || !deactivating || !suspending) return;
  const parent = (await old.createParentOnce(founding)).account.id;
  const sub = (await old.createSub(parent, creating)).account.id;
  const key = (await old.createKey(sub, minting)).key.id;
  await old.revokeKey(sub, key, revoking);
  await old.setStatus(parent, sub, 'deactivated', deactivating);
  await old.setParentStatus(parent, 'suspended', suspending);

  await store.migrate();
  const { tenants, log } = store;
  const { seq: now } = await log.replicas();
  t.match(await tenants.createParent({ id: newAccountId(), name: 'Parent' }, founding), {
    id: parent,
    status: 'active',
    replayed: true,
  });
  t.match(await tenants.createSubAccount(parent, subAccountDraft(), noLimit, creating), {
    value: { id: sub, status: 'active' },
    seq: now,
    replayed: true,
  });
  t.match(await tenants.createKey(sub, keyDraft(), noLimit, minting), {
    id: key,
    revokedAt: null,
    replayed: true,
  });
  t.match(await tenants.revokeKey(sub, key, revoking), { value: { id: key, revokedAt: Date }, seq: now });
  t.match(await tenants.setSubAccountStatus(parent, sub, 'deactivated', deactivating), { seq: now });
  t.match(await tenants.setParentStatus(parent, 'suspended', suspending), { seq: now });
  const other = { ...creating, fingerprint: minting.fingerprint };
  t.equal(
    await problemCode(tenants.createSubAccount(parent, subAccountDraft(), noLimit, other)),
    'idempotency_mismatch',
  );
  t.equal((await tenants.listSubAccounts(parent, {}, { limit: 9 })).rows.length, 1);
});

t.test('what this version did for an Idempotency-Key is replayed by 0.1.0', async (t) => {
  const { sql, store } = await databaseOf010(t);
  await store.migrate();
  const { tenants, log } = store;
  const old = of010(sql);
  const [founding, creating, minting, revoking, deactivating] = Array.from({ length: 5 }, newClaim);
  if (!founding || !creating || !minting || !revoking || !deactivating) return;
  const parent = (await tenants.createParent({ id: newAccountId(), name: 'Parent' }, founding)).id;
  const draft = subAccountDraft();
  await tenants.createSubAccount(parent, draft, noLimit, creating);
  const key = keyDraft();
  await tenants.createKey(draft.id, key, noLimit, minting);
  await tenants.revokeKey(draft.id, key.id, revoking);
  await tenants.setSubAccountStatus(parent, draft.id, 'deactivated', deactivating);

  const { seq: now } = await log.replicas();
  t.match(await old.createParentOnce(founding), { outcome: 'again', account: { id: parent } });
  t.match(await old.createSub(parent, creating), { outcome: 'again', account: { id: draft.id }, seq: now });
  t.match(await old.createKey(draft.id, minting), { outcome: 'again', key: { id: key.id } });
  t.match(await old.revokeKey(draft.id, key.id, revoking), { outcome: 'done', seq: now });
  t.match(await old.setStatus(parent, draft.id, 'deactivated', deactivating), { outcome: 'done', seq: now });
  t.match(await old.createSub(parent, { ...creating, fingerprint: minting.fingerprint }), {
    outcome: 'mismatch',
  });
  await sql.begin(async (tx) => {
    const claim = newClaim();
    await of010(tx).createSub(parent, claim);
    t.equal(
      await problemCode(tenants.createSubAccount(parent, subAccountDraft(), noLimit, claim)),
      'idempotency_in_flight',
    );
  });
});

t.test('0.1.0 makes every change on the migrated database, and leaves the same in the log', async (t) => {
  const { sql, store } = await databaseOf010(t);

  /** Every change of 0.1.0, with or without a claim: what each returned and logged, ids left out. */
  async function everyChange(claim: () => IdempotencyClaim | undefined): Promise<readonly unknown[]> {
    const old = of010(sql);
    const parent = await old.createParent();
    const steps: unknown[] = [];
    let before = (await store.log.replicas()).seq;
    const step = async (change: Promise<Row>): Promise<Row> => {
      const row = await change;
      const { seq, entries } = await store.log.readAfter(before);
      steps.push({
        members: Object.keys(row),
        outcome: row.outcome,
        waitsFor: row.seq === null || row.seq === undefined ? 'nothing' : row.seq - before,
        logged: entries.map(({ key, withdrawn }) => [key.slice(0, 2), withdrawn]).sort(),
      });
      before = seq;
      return row;
    };
    const sub = (await step(old.createSub(parent, claim()))).account.id;
    await step(old.createSub(parent, claim()));
    await step(old.rename(parent, sub, 'new'));
    const key = (await step(old.createKey(sub, claim()))).key.id;
    for (let i = 0; i < 2; i++) await step(old.revokeKey(sub, key, claim()));
    for (let i = 0; i < 2; i++) await step(old.setStatus(parent, sub, 'deactivated', claim()));
    await step(old.setStatus(parent, sub, 'active', claim()));
    for (let i = 0; i < 2; i++) await step(old.setParentStatus(parent, 'suspended', claim()));
    await step(old.setStatus(parent, newAccountId(), 'active', claim()));
    await step(old.revokeKey(parent, newKeyId(), claim()));
    return steps;
  }

  const before = [await everyChange(() => undefined), await everyChange(newClaim)];
  await store.migrate();
  t.same([await everyChange(() => undefined), await everyChange(newClaim)], before);
});

t.test('the step to this version waits for no change at work and holds up no lease', async (t) => {
  const { url, sql, store } = await databaseOf010(t);
  const old = of010(sql);
  const parent = await old.createParent();
  const sub = (await old.createSub(parent)).account.id;
  await sql.begin(async (tx) => {
    await of010(tx).setStatus(parent, sub, 'deactivated');
    await of010(tx).createSub(parent, newClaim());
    await tx`select replica_register('r', 'n', 1000, null, null, false)`;
    const migrating = rawSql(t, url);
    await migrate(over(migrating), {
      onWait: ({ step, waitsFor }) => {
        throw new Error(`${step} waits for ${waitsFor}`);
      },
    });
  });
  t.pass('migrated while rows of every table were locked');

  const again = await databaseOf010(t);
  const [step] = (await readMigrations()).slice(schemaOf010);
  await again.sql.begin(async (tx) => {
    await tx.unsafe(step?.text ?? '').simple();
    await again.store.log.register({ id: 'r', nonce: 'n', leaseMs: 1_000 });
    await again.store.log.ack('r', 1, 0);
    const beside = of010(rawSql(t, again.url));
    t.match(await beside.createSub(await beside.createParent(), newClaim()), { outcome: 'done' });
  });
  t.match((await again.store.log.replicas()).rows, [{ id: 'r', acked: 1 }]);
  t.equal((await store.tenants.getSubAccount(parent, sub))?.status, 'deactivated');
});
