/** Release 0.1.0, as a database sees it: its tables, and the functions of schema 6, which its replicas call by their names. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Sql, Statements } from '../../src/adapters/postgres/connection/sql.ts';
import { readMigrations } from '../../src/adapters/postgres/schema/migration-files.ts';
import { openPostgres, type Store } from '../../src/adapters/postgres/store.ts';
import { digestSecret } from '../../src/domain/api-key.ts';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import type { IdempotencyClaim } from '../../src/ports/changes.ts';
import { freshDatabase } from './postgres.ts';
import type { Scope } from './servers.ts';
import { newAccountId, newKeyId, rawSql } from './store.ts';

const noLimit = 1_000;
export const schemaOf010 = 6;

/** What a function of schema 6 returns, as far as these tests look. */
export interface Row {
  readonly outcome: string;
  readonly seq: number | null;
  readonly account: { readonly id: AccountId; readonly status: string };
  readonly key: { readonly id: KeyId; readonly revoked_at: string | null };
}

/** The changes as 0.1.0 makes them; `claim` calls the function that stands for one request. */
export function of010(sql: Statements) {
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

export function newClaim(): IdempotencyClaim {
  return { caller: newKeyId(), key: digestSecret(randomUUID()), fingerprint: digestSecret(randomUUID()) };
}

/** A database as 0.1.0 left it, and a store of this version that has not migrated it yet. */
export async function databaseOf010(
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

/** Renews a lease as 0.1.0 does. */
export async function register010(sql: Statements, id: string, nonce = 'nonce'): Promise<void> {
  await sql`select replica_register(${id}, ${nonce}, 1000, '0.1.0', 'host', false)`;
}

/** The position, by the function that changes ask. */
export async function positionOf(sql: Statements): Promise<number> {
  const [{ seq }] = await sql<[{ seq: number }]>`select coherence_position()::int as seq`;
  return seq;
}

interface Reading010 {
  readonly seq: number;
  readonly entries: readonly (readonly [seq: number, key: string, withdrawn: boolean])[];
}

/** The statement with which 0.1.0 reads the log. */
export async function read010(sql: Statements, after: number): Promise<Reading010> {
  const [reading] = await sql<[Reading010]>`
    select s.v::int as seq, s.floor::int, coherence_incarnation() as incarnation, coalesce((
      select json_agg(json_build_array(l.seq, l.key, l.withdrawn) order by l.seq, l.key)
      from coherence_log l where l.seq > ${after}
    ), '[]') as entries
    from coherence_seq s`;
  return reading;
}
