/** Replicas of 0.1.0 call the functions of schema 6 by their names; one may run beside this version on one database. */
import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import type { Sql, Statements } from '../../../../src/adapters/postgres/connection/sql.ts';
import { readMigrations } from '../../../../src/adapters/postgres/schema/migration-files.ts';
import { openPostgres, type Store } from '../../../../src/adapters/postgres/store.ts';
import { digestSecret } from '../../../../src/domain/api-key.ts';
import type { AccountId, KeyId } from '../../../../src/domain/ids.ts';
import type { IdempotencyClaim } from '../../../../src/ports/changes.ts';
import { eventually } from '../../../support/eventually.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import type { Scope } from '../../../support/servers.ts';
import {
  createParent,
  keyDraft,
  newAccountId,
  newKeyId,
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
    value: { id: parent, status: 'active' },
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

t.test('accounts from before the upgrade are listed, and those that 0.1.0 makes beside it', async (t) => {
  const { sql, store } = await databaseOf010(t);
  const old = of010(sql);
  const [first, second] = [await old.createParent(), await old.createParent()];
  const made = [(await old.createSub(first)).account.id, (await old.createSub(first)).account.id];
  await store.migrate();
  const third = await old.createParent();
  made.push((await old.createSub(first)).account.id);
  const idsOf = ({ rows }: { readonly rows: readonly { readonly id: AccountId }[] }): AccountId[] =>
    rows.map(({ id }) => id).sort();
  const { tenants } = store;
  t.same(idsOf(await tenants.listParents({}, { limit: 9 })), [first, second, third].sort());
  t.same(idsOf(await tenants.listSubAccounts(first, {}, { limit: 9 })), made.sort());
});

t.test('a parent gets an external_id once no replica is left that would not send it', async (t) => {
  const { sql, store } = await databaseOf010(t);
  await store.migrate();
  const { tenants } = store;
  const { id } = await createParent(tenants);
  await register010(sql, 'old');
  const draft = { id: newAccountId(), name: 'Named', externalId: 'named' };
  t.equal(await problemCode(tenants.createParent(draft)), 'unavailable');
  t.equal(await problemCode(tenants.updateParent(id, { externalId: 'named' })), 'unavailable');
  t.match(await tenants.updateParent(id, { name: 'N', metadata: { a: 'b' } }), { value: { name: 'N' } });
  t.match(await tenants.updateParent(id, { externalId: null }), { value: { externalId: null } });

  await sql`delete from replica`;
  t.match(await tenants.createParent(draft), { value: { externalId: 'named' } });
  await t.rejects(register010(sql, 'old'), { code: 'TG002' });
});

t.test(
  'beside 0.1.0, whose streams would outlive it, another expiry ends the streams of the key',
  async (t) => {
    const { sql, store } = await databaseOf010(t);
    await store.migrate();
    const { tenants, log } = store;
    const { id } = await createParent(tenants);
    const { id: key } = (await tenants.createKey(id, keyDraft(), noLimit)) as { id: KeyId };
    const withdrawn = async (change: () => Promise<unknown>): Promise<boolean[]> => {
      const { seq } = await log.replicas();
      await change();
      return (await log.readAfter(seq, 10)).entries.map(({ revoked }) => revoked);
    };
    const inHours = (hours: number) => () =>
      tenants.updateKey(id, key, { expiresAt: new Date(Date.now() + hours * 3_600_000) });
    const { name: _name, scopes: _scopes, ...draft } = keyDraft();
    t.same(await withdrawn(inHours(5)), [false]);
    await register010(sql, 'old');
    t.same(await withdrawn(inHours(4)), [true]);
    t.same(await withdrawn(() => tenants.rotateKey(id, key, { ...draft, overlapS: 60 })), [true]);
    await sql`delete from replica`;
    t.same(await withdrawn(() => tenants.updateKey(id, key, { expiresAt: null })), [false]);

    // One that comes while the change waits for its position.
    let changed: Promise<boolean[]> | undefined;
    await sql.begin(async (tx) => {
      await tx`select from coherence_seq for update`;
      changed = withdrawn(inHours(3));
      await eventually(async () => {
        const rows = await tx`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
        return rows.length === 1;
      });
      await register010(tx, 'old');
    });
    t.same(await changed, [true]);
  },
);

t.test('a batch of usage that 0.1.0 adds says when a key was used by its hour', async (t) => {
  const { sql, store } = await databaseOf010(t);
  await store.migrate();
  const { tenants } = store;
  const { id } = await createParent(tenants);
  const { id: key } = (await tenants.createKey(id, keyDraft(), noLimit)) as { id: KeyId };
  const counts = {
    ...{ account_id: id, key_id: key, hour: '2026-01-01T10:00:00Z', requests: 1, reads: 1, writes: 0 },
    ...{ client_errors: 0, server_errors: 0, bytes_in: 0, bytes_out: 0 },
  };
  await sql`select usage_add('batch', ${sql.json([counts])}, 'old', 0)`;
  t.same((await tenants.getKey(id, key))?.lastUsedAt, new Date('2026-01-01T11:00:00Z'));
});

t.test('what this version did for an Idempotency-Key is replayed by 0.1.0', async (t) => {
  const { sql, store } = await databaseOf010(t);
  await store.migrate();
  const { tenants, log } = store;
  const old = of010(sql);
  const [founding, creating, minting, revoking, deactivating] = Array.from({ length: 5 }, newClaim);
  if (!founding || !creating || !minting || !revoking || !deactivating) return;
  const { id: parent } = await createParent(tenants, {}, founding);
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
    let before = await positionOf(sql);
    const step = async (change: Promise<Row>): Promise<Row> => {
      const row = await change;
      const [seq, { entries }] = [await positionOf(sql), await read010(sql, before)];
      steps.push({
        members: Object.keys(row),
        outcome: row.outcome,
        waitsFor: row.seq === null || row.seq === undefined ? 'nothing' : row.seq - before,
        logged: entries.map(([, key, withdrawn]) => [key.slice(0, 2), withdrawn]).sort(),
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

t.test(
  'the step that makes the functions of changes waits for none at work and holds up no lease',
  async (t) => {
    const { url, sql } = await databaseOf010(t);
    const [step] = (await readMigrations()).slice(schemaOf010);
    const text = step?.text ?? '';
    const old = of010(sql);
    const parent = await old.createParent();
    const sub = (await old.createSub(parent)).account.id;
    await sql.begin(async (tx) => {
      await of010(tx).setStatus(parent, sub, 'deactivated');
      await of010(tx).createSub(parent, newClaim());
      await register010(tx, 'r');
      const migrating = rawSql(t, url);
      await migrating`set lock_timeout = '1s'`;
      await migrating.unsafe(text).simple();
    });
    t.pass('migrated while rows of every table were locked');

    const again = await databaseOf010(t);
    await again.sql.begin(async (tx) => {
      await tx.unsafe(text).simple();
      const beside = rawSql(t, again.url);
      await register010(beside, 'r');
      await beside`select replica_ack('r', 1, 0)`;
      t.match(await of010(beside).createSub(await of010(beside).createParent(), newClaim()), {
        outcome: 'done',
      });
    });
    t.match(await again.sql`select id, acked from replica`, [{ id: 'r', acked: '1' }]);
  },
);

t.test('leases are renewed while the log gets its index', async (t) => {
  const { url, sql } = await databaseOf010(t);
  const parent = await of010(sql).createParent();
  await of010(sql).createSub(parent);
  const [changes, log] = (await readMigrations()).slice(schemaOf010);
  await sql.unsafe(changes?.text ?? '').simple();
  const beside = rawSql(t, url);
  await sql.begin(async (tx) => {
    await tx.unsafe(log?.text ?? '').simple();
    await register010(beside, 'r');
    await beside`select replica_ack('r', 1, 0)`;
    t.match(await read010(beside, 0), { seq: 1, entries: [[1, `n:${parent}`, false]] });
  });
});

t.test('while a replica of 0.1.0 is registered, it reads the position it knows where to find', async (t) => {
  const { sql, store } = await databaseOf010(t);
  const old = of010(sql);
  await store.migrate();
  const parent = await old.createParent();
  const sub = (await old.createSub(parent)).account.id;
  const status = (to: string): Promise<number | null> =>
    old.setStatus(parent, sub, to).then(({ seq }) => Number(seq));
  await store.log.register({ id: 'new', nonce: 'n', leaseMs: 1_000 });
  await status('deactivated');
  t.match(await read010(sql, 0), { seq: 0 }, 'nothing is written for replicas that are not there');

  await register010(sql, 'old');
  t.match(await read010(sql, 0), { seq: 2 }, 'from its first reading on');
  const revoked = await status('active').then(() => status('deactivated'));
  const reading = await read010(sql, 2);
  t.match(reading, { seq: revoked, entries: [[revoked, `a:${sub}`, true], [revoked, `n:${parent}`, false]] }); // prettier-ignore
  await register010(sql, 'old', 'next');
  t.match(await read010(sql, 2), reading);

  await sql`delete from replica where id = 'old'`;
  const after = await status('active');
  t.match(await read010(sql, 2), { seq: revoked });
  t.equal((await store.log.replicas()).seq, after);
  await register010(sql, 'old');
  t.match(await read010(sql, 2), { seq: after }, 'and when it comes back');
});

t.test('a change and a replica of 0.1.0 that appear at once do not miss each other', async (t) => {
  const { url, sql, store } = await databaseOf010(t);
  await store.migrate();
  const old = of010(sql);
  const parent = await old.createParent();
  const sub = (await old.createSub(parent)).account.id;
  let registered: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await of010(tx).setStatus(parent, sub, 'deactivated');
    const beside = rawSql(t, url);
    const [{ pid }] = await beside<[{ pid: number }]>`select pg_backend_pid() as pid`;
    registered = register010(beside, 'old');
    await eventually(async () => {
      const [row] = await tx`select wait_event_type from pg_stat_activity where pid = ${pid}`;
      return row?.['wait_event_type'] === 'Lock';
    });
  });
  await registered;
  t.match(await read010(sql, 0), { seq: 2 });
});

t.test('what a replica of 0.1.0 prunes takes no position back', async (t) => {
  const { sql, store } = await databaseOf010(t);
  await store.migrate();
  const old = of010(sql);
  await old.createSub(await old.createParent());
  await old.createSub(await old.createParent());
  await sql`with gone as (delete from coherence_log where at < now() + interval '1 hour' returning seq)
    update coherence_seq set floor = greatest(floor, (select max(seq) + 1 from gone)) where exists (select from gone)`;
  t.match(await store.log.readAfter(null, 10), { seq: 2, through: 2, floor: 3, entries: [] });
  t.equal(Number((await old.createSub(await old.createParent())).seq), 3);
});

t.test(
  'for a while after the step, changes that 0.1.0 had begun count on from the position it knows',
  async (t) => {
    const { sql, store } = await databaseOf010(t);
    const old = of010(sql);
    await register010(sql, 'old');
    await store.migrate();
    await sql`delete from replica`;
    const { seq } = await old.createSub(await old.createParent());
    t.match(await read010(sql, 0), { seq: Number(seq) });
  },
);

/** Renews a lease as 0.1.0 does. */
async function register010(sql: Statements, id: string, nonce = 'nonce'): Promise<void> {
  await sql`select replica_register(${id}, ${nonce}, 1000, '0.1.0', 'host', false)`;
}

/** The position, by the function that changes ask. */
async function positionOf(sql: Statements): Promise<number> {
  const [{ seq }] = await sql<[{ seq: number }]>`select coherence_position()::int as seq`;
  return seq;
}

interface Reading010 {
  readonly seq: number;
  readonly entries: readonly (readonly [seq: number, key: string, withdrawn: boolean])[];
}

/** The statement with which 0.1.0 reads the log. */
async function read010(sql: Statements, after: number): Promise<Reading010> {
  const [reading] = await sql<[Reading010]>`
    select s.v::int as seq, s.floor::int, coherence_incarnation() as incarnation, coalesce((
      select json_agg(json_build_array(l.seq, l.key, l.withdrawn) order by l.seq)
      from coherence_log l where l.seq > ${after}
    ), '[]') as entries
    from coherence_seq s`;
  return reading;
}
