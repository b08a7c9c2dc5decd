import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';

/** One step of the schema. Files are numbered without gaps and never change once released. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, hex. */
  readonly checksum: string;
  /**
   * The oldest version of the schema whose code still works after this step. A step that only adds may say so with a
   * first line `-- compatible with: 7`; a release can then be rolled back without rolling back its database. Without
   * that line older code does not start on the database.
   */
  readonly compatibleWith: number;
}

const folder = new URL('./migrations/', import.meta.url);
const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const compatibility = /^-- compatible with: (\d+)$/m;

/** The migrations this code comes with, in order: those in the folder and in its folders of ten, which are there for readers alone. */
export async function readMigrations(): Promise<readonly Migration[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => fileName.test(basename(file)));
  return Promise.all(files.sort((a, b) => (basename(a) < basename(b) ? -1 : 1)).map(readMigration));
}

async function readMigration(file: string, index: number): Promise<Migration> {
  const [, number, name] = fileName.exec(basename(file)) ?? [];
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
