import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/** One migration of the schema. Migration files are numbered without gaps, and a released file never changes. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, in hex. */
  readonly checksum: string;
  /**
   * Oldest schema version whose code still works after this migration. A migration that only adds things may declare
   * the version in a line such as `-- compatible with: 7`. A release can then be rolled back while the database keeps
   * its schema. Without the line, older code refuses to start on the database.
   */
  readonly compatibleWith: number;
}

const folder = new URL('./steps/', import.meta.url);
const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const compatibility = /^-- compatible with: (\d+)$/m;

/** Reads the migrations in this version, in order. */
export async function readMigrations(): Promise<readonly Migration[]> {
  const files = (await readdir(folder)).filter((file) => fileName.test(file));
  return Promise.all(files.sort().map(readMigration));
}

async function readMigration(file: string, index: number): Promise<Migration> {
  const [, number, name] = fileName.exec(file) ?? [];
  const version = Number(number);
  if (name === undefined || version !== index + 1) throw new Error(`migration ${file} is out of order`);
  const text = (await readFile(new URL(file, folder), 'utf8')).replaceAll('\r\n', '\n');
  return {
    version,
    name,
    text,
    checksum: createHash('sha256').update(text).digest('hex'),
    compatibleWith: Number(compatibility.exec(text)?.[1] ?? version),
  };
}
