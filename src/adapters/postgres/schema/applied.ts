import type { Statements } from '../connection/sql.ts';
import { readMigrations, type Migration } from './migration-files.ts';

/**
 * Thrown if this version cannot work with the database's schema. Retrying does not help; the message gives the reason.
 */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

/** A row of `schema_migration`. */
interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly compatible_with: number;
}

/** A database's schema, compared with the migrations in this version. */
export interface SchemaState {
  /** Number of the newest migration that has been applied; 0 if the database is empty. */
  readonly version: number;
  /** Migrations in this version that have not been applied yet, in order. */
  readonly pending: readonly Migration[];
}

/**
 * Reads which migrations have been applied.
 * @throws {SchemaMismatch} if the database is too new, or a migration was changed after it had been applied
 */
export async function readSchema(sql: Statements): Promise<SchemaState> {
  const known = await readMigrations();
  const applied = await readApplied(sql);
  return {
    version: Math.max(0, ...applied.map((step) => step.version)),
    pending: pendingOf(known, applied),
  };
}

/**
 * Checks that this version can work with the schema.
 * @throws {SchemaMismatch} if it cannot, for example because migrations are missing
 */
export async function checkSchema(sql: Statements): Promise<void> {
  const [missing] = (await readSchema(sql)).pending;
  if (missing) throw new SchemaMismatch(`the database lacks migration ${missing.version} (${missing.name})`);
}

/**
 * Returns the migrations that have not been applied.
 * @throws {SchemaMismatch} if this version cannot work with the applied migrations
 */
function pendingOf(known: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  const newest = known.length;
  for (const step of applied) {
    const own = known[step.version - 1];
    if (own && own.checksum !== step.checksum) {
      throw new SchemaMismatch(
        `migration ${step.version} (${step.name}) differs from the one that was applied: ` +
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
