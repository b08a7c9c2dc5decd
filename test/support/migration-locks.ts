/** What a migration does to replicas that serve while it runs: the locks it really takes, on a real PostgreSQL. */
import { randomUUID } from 'node:crypto';
import type { Sql, Statements } from '../../src/adapters/postgres/connection/sql.ts';

/** Each renewal of a lease writes one and reads the other. */
const tablesOfLeases = ['replica', 'coherence_seq'];
/** Read by each renewal, written by each change. */
const tablesRenewalsRead = ['coherence_log', ...tablesOfLeases];
/** Hold a row for each replica or for each change of the last hour: an index is there in a moment. */
const smallTables = tablesRenewalsRead;

/** A step may lock one table beside those of the leases, if it says so: for reviewers, and for who reads the log. */
const declaration = /^-- locks for a moment: ([a-z_]+)$/m;

/** Conflict with statements that write (ROW EXCLUSIVE). */
const keepsWritersOut = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'];

interface Seen {
  readonly name: string;
  readonly file: number;
  readonly indexes: number;
  /** Rows changed so far, by this transaction and earlier ones of the session. */
  readonly changed: number;
}

/**
 * Runs a step and takes it back. Returns what is wrong with it, in words for its author; nothing where replicas of the
 * version before can renew, decide and make changes while it runs and while it waits.
 *
 * @param sql a database to which every step before was applied, with a row in each table that matters ({@link fill})
 */
export async function faultsOfStep(sql: Sql, text: string): Promise<string[]> {
  const undo = new Error('undo');
  let faults: string[] = [];
  await sql
    .begin(async (tx) => {
      const before = await relations(tx);
      await tx.unsafe(text).simple();
      faults = [
        ...(await lockFaults(tx, before, declaration.exec(text)?.[1])),
        ...(await contentFaults(tx, before)),
      ];
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return faults;
}

/** A replica, an account, a key, and a change in the log. */
export async function fill(sql: Sql): Promise<void> {
  const account = randomUUID();
  await sql`select replica_renew('r', 'n', 3000, 0, '1.0.0', 'host', false, null, 1)`;
  await sql`insert into account (id, name, status, sub_accounts, active_sub_accounts)
    values (${account}, 'Parent', 'active', 0, 0)`;
  await sql`insert into api_key (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4)
    values (${randomUUID()}, ${account}, 'Key', '{}', ${Buffer.alloc(32, 1)}, ${Buffer.alloc(32, 2)}, 'p', 'last')`;
  await sql`select coherence_take(array['+a:' || ${account}::text])`;
}

async function lockFaults(
  tx: Statements,
  before: ReadonlyMap<number, Seen>,
  declared: string | undefined,
): Promise<string[]> {
  const locks = await tx<{ relation: number; mode: string }[]>`
    select distinct relation::int, mode from pg_locks
    where pid = pg_backend_pid() and locktype = 'relation' and granted order by 1, 2`;
  return locks.flatMap(({ relation, mode }) => {
    const name = before.get(relation)?.name;
    if (name === undefined || !keepsWritersOut.includes(mode)) return [];
    const forbidden = mode === 'AccessExclusiveLock' ? tablesRenewalsRead : tablesOfLeases;
    if (forbidden.includes(name)) return [`takes ${mode} on ${name}: leases could not be renewed`];
    return name === declared ? [] : [`takes ${mode} on ${name}, and does not say so`];
  });
}

async function contentFaults(tx: Statements, before: ReadonlyMap<number, Seen>): Promise<string[]> {
  const faults: string[] = [];
  for (const [id, { name, file, indexes, changed }] of await relations(tx)) {
    const was = before.get(id);
    if (was === undefined) continue;
    if (file !== was.file) faults.push(`writes ${name} anew`);
    if (indexes > was.indexes && !smallTables.includes(name))
      faults.push(`builds an index on ${name}, which may be large: changes wait for as long as that takes`);
    if (changed > was.changed) faults.push(`changes rows of ${name}, which are locked until it commits`);
  }
  return faults;
}

/** Tables and views of the gateway. */
async function relations(tx: Statements): Promise<ReadonlyMap<number, Seen>> {
  const rows = await tx<(Seen & { readonly id: number })[]>`
    select c.oid::int as id, c.relname as name, c.relfilenode::int as file,
      (select count(*)::int from pg_index i where i.indrelid = c.oid) as indexes,
      coalesce(s.n_tup_upd + s.n_tup_del, 0)::int as changed
    from pg_class c left join pg_stat_xact_user_tables s on s.relid = c.oid
    where c.relkind in ('r', 'p', 'v', 'm') and c.relnamespace = current_schema()::regnamespace`;
  return new Map(rows.map((row) => [row.id, row]));
}
