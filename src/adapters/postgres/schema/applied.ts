import type { Statements } from '../connection/sql.ts';
import type { SchemaFiles, Step } from './files.ts';

/** Thrown if this version cannot work with the database's schema as it is; the message gives the reason. */
export class SchemaMismatch extends Error {
  override readonly name: string = 'SchemaMismatch';
}

/** Thrown if this version will never work with the database. The message says how to begin anew. */
export class UnusableDatabase extends SchemaMismatch {
  override readonly name = 'UnusableDatabase';

  /** @param what what the database is, as the second half of a sentence */
  constructor(what: string) {
    super(
      `the database ${what}. To begin anew, give this version an empty database (or an empty DATA_DIR); ` +
        'CHANGELOG.md says how accounts and API keys of 0.2.0 are brought along',
    );
  }
}

/** Returns the {@link SchemaMismatch} that an error is, or that is its cause. */
export function mismatchIn(error: unknown): SchemaMismatch | undefined {
  return [error, (error as Error | undefined)?.cause].find((one) => one instanceof SchemaMismatch);
}

/** Part of the schema that a database lacks. */
export type Missing =
  | { readonly kind: 'base' | 'functions'; readonly name: string }
  | { readonly kind: 'step'; readonly name: string; readonly step: Step };

/** A database's schema, compared with this version's files. */
export interface SchemaState {
  /** Number of the functions in force; 0 if the database is empty. */
  readonly functions: number;
  /** What `migrate` has to do, in order. */
  readonly missing: readonly Missing[];
}

/** The row of `schema_base`. */
interface BaseRow {
  readonly checksum: string;
  readonly functions: number;
  readonly functions_checksum: string;
}

/** A row of `schema_step`. */
type StepRow = Pick<Step, 'number' | 'name' | 'checksum'> & { readonly compatible_with: number };

/**
 * Compares a database's schema with this version's files.
 * @throws {SchemaMismatch} if the database is too new, or a step was changed after it had been applied
 * @throws {UnusableDatabase} if another base or another build's functions are in the database
 */
export async function readSchema(sql: Statements, files: SchemaFiles): Promise<SchemaState> {
  const [{ isThere, isOld }] = await sql<[{ readonly isThere: boolean; readonly isOld: boolean }]>`
    select to_regclass('schema_base') is not null as "isThere", to_regclass('schema_migration') is not null as "isOld"`;
  if (isOld)
    throw new UnusableDatabase(`was made by ${await oldVersion(sql)}, which this version cannot read`);
  if (!isThere) return { functions: 0, missing: [{ kind: 'base', name: 'base' }] };
  const [base] = await sql<[BaseRow]>`select checksum, functions, functions_checksum from schema_base`;
  const steps = await sql<
    StepRow[]
  >`select number, name, checksum, compatible_with from schema_step order by number`;
  compareBase(base, files);
  return {
    functions: base.functions,
    missing: [
      ...missingSteps(files.steps, steps),
      ...(base.functions < files.functions.number
        ? [{ kind: 'functions' as const, name: `functions ${files.functions.number}` }]
        : []),
    ],
  };
}

/**
 * Checks that this version can work with the schema.
 * @throws {SchemaMismatch} if it cannot, for example because a step is missing
 */
export async function checkSchema(sql: Statements, files: SchemaFiles): Promise<void> {
  const [missing] = (await readSchema(sql, files)).missing;
  if (missing)
    throw new SchemaMismatch(`the database lacks this version's ${missing.name}; \`migrate\` adds it`);
}

function compareBase(row: BaseRow, { base, functions }: SchemaFiles): void {
  if (row.checksum !== base.checksum) {
    throw new UnusableDatabase(
      `belongs to another development build: its base is ${short(row.checksum)}, and that of this build ` +
        short(base.checksum),
    );
  }
  if (row.functions === functions.number && row.functions_checksum !== functions.checksum) {
    throw new UnusableDatabase(
      `belongs to another development build, whose functions have the number ${functions.number}, too, but another text`,
    );
  }
}

function missingSteps(known: readonly Step[], applied: readonly StepRow[]): Missing[] {
  for (const row of applied) {
    const own = known[row.number - 1];
    if (own && own.checksum !== row.checksum) {
      throw new UnusableDatabase(
        `belongs to another development build: step ${nameOf(row)} differs from the one that was applied`,
      );
    }
    if (!own && row.compatible_with > known.length) {
      throw new SchemaMismatch(
        `the database is newer than this version: it has step ${nameOf(row)}, and this version knows ` +
          `${known.length}. Run the version that migrated it, or restore a backup from before`,
      );
    }
  }
  const present = new Set(applied.map(({ number }) => number));
  return known
    .filter(({ number }) => !present.has(number))
    .map((step) => ({ kind: 'step', name: nameOf(step), step }));
}

/** Returns the name of the version that made a database before there was a base, by the number of its migrations. */
async function oldVersion(sql: Statements): Promise<string> {
  const [{ newest }] = await sql<[{ readonly newest: number | null }]>`
    select max(version) as newest from schema_migration`;
  return { 6: 'version 0.1.0', 18: 'version 0.2.0' }[newest ?? 0] ?? 'a development build before 1.0.0';
}

function nameOf({ number, name }: Pick<Step, 'number' | 'name'>): string {
  return `${String(number).padStart(4, '0')} ${name}`;
}

function short(checksum: string): string {
  return checksum.slice(0, 12);
}
