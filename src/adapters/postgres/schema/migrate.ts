import type { Sql, Statements } from '../connection/sql.ts';
import { readMigrations, type Migration } from './migration-files.ts';

/** This code cannot work on the schema of the database. Trying again does not help; the message says what would. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

/** One line of `schema_migration`. */
interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly compatible_with: number;
}

/**
 * Brings the schema up to this code, or finds it there. Any number of processes may try at the same time: one works,
 * the others wait for it. All pending steps commit together or not at all.
 *
 * A database that is ahead of this code is accepted while every step it has beyond is compatible with this code
 * ({@link Migration.compatibleWith}), so that old replicas can restart in the middle of a rollout and a release can
 * be taken back; otherwise it is rejected.
 *
 * @param onProgress is told each step before it runs
 * @returns the version the schema is at
 * @throws {SchemaMismatch} where the database is too new, or a step was changed after it had been applied
 */
export async function migrate(sql: Sql, onProgress?: (step: string) => void): Promise<number> {
  const known = await readMigrations();
  if (pending(known, await readApplied(sql)).length > 0) {
    await sql.begin(async (tx) => {
      // Transaction-scoped, so it also holds behind a transaction pooler, and ends with the connection that took it.
      await tx`select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)`;
      await tx`select set_config('idle_in_transaction_session_timeout', '0', true)`;
      await tx`select pg_advisory_xact_lock(${migrationLock})`;
      // While this waits for a lock on a busy table, every later statement on the table waits behind it: better to fail
      // and try again.
      await tx`select set_config('lock_timeout', '10s', true)`;
      await tx`
        create table if not exists schema_migration (
          version int primary key, name text not null, checksum text not null, compatible_with int not null,
          applied_at timestamptz not null default now()
        )`;
      for (const step of pending(known, await readApplied(tx))) {
        onProgress?.(`${String(step.version).padStart(4, '0')} ${step.name}`);
        await tx.unsafe(step.text).simple();
        await tx`
          insert into schema_migration (version, name, checksum, compatible_with)
          values (${step.version}, ${step.name}, ${step.checksum}, ${step.compatibleWith})`;
      }
    });
  }
  return (await checkSchema(sql)).version;
}

/**
 * Whether this code can work on the schema as it is.
 * @throws {SchemaMismatch} where it cannot, steps that are still missing included
 */
export async function checkSchema(sql: Sql): Promise<{ readonly version: number }> {
  const applied = await readApplied(sql);
  const missing = pending(await readMigrations(), applied);
  if (missing[0])
    throw new SchemaMismatch(`the database lacks migration ${missing[0].version} (${missing[0].name})`);
  return { version: Math.max(...applied.map((step) => step.version)) };
}

/** Names the lock among all advisory locks of the database. */
const migrationLock = 7_311_970_451;

/** Steps to apply. @throws {SchemaMismatch} */
function pending(known: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  const newest = known.length;
  for (const step of applied) {
    const own = known[step.version - 1];
    if (own && own.checksum !== step.checksum) {
      throw new SchemaMismatch(
        `migration ${step.version} (${step.name}) was applied with another content than this version has: ` +
          'the database belongs to another build',
      );
    }
    if (!own && step.compatible_with > newest) {
      throw new SchemaMismatch(
        `the database is newer than this version: it has migration ${step.version} (${step.name}), and this version ` +
          `knows ${newest}. Run the version that migrated it, or restore a backup from before`,
      );
    }
  }
  const present = new Set(applied.map((step) => step.version));
  return known.filter((step) => !present.has(step.version));
}

async function readApplied(sql: Statements): Promise<readonly Applied[]> {
  const [table] = await sql<
    [{ readonly there: boolean }]
  >`select to_regclass('schema_migration') is not null as there`;
  if (!table.there) return [];
  return sql<
    Applied[]
  >`select version, name, checksum, compatible_with from schema_migration order by version`;
}
