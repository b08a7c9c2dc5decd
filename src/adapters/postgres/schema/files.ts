import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/** The SQL files of this version. */
export interface SchemaFiles {
  readonly base: Base;
  /** Steps in the order of their numbers, which have no gaps. */
  readonly steps: readonly Step[];
  readonly functions: Functions;
}

/** What a new database is made of, apart from steps and functions. A released base never changes. */
export interface Base {
  /** Tables, their indexes and the rows of those that always have one. */
  readonly tables: string;
  /** Triggers, and what else needs functions. */
  readonly rest: string;
  /** SHA-256 of the texts, in hex. */
  readonly checksum: string;
}

/** A change of the tables, indexes or data of a released base. A released step never changes. */
export interface Step {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, in hex. */
  readonly checksum: string;
  /**
   * Number of steps that the oldest version knows whose code still works after this step. A step that only adds things
   * may declare it in a line such as `-- compatible with: 7`. A release can then be rolled back while the database keeps
   * the step. Without the line, older code refuses to start on the database.
   */
  readonly compatibleWith: number;
}

/** All functions. The version with the highest number among those that migrated a database has its functions there. */
export interface Functions {
  /** Rises with each change of the text; `npm run generate` raises it in `functions.json`. */
  readonly number: number;
  readonly text: string;
  /** SHA-256 of the text, in hex. */
  readonly checksum: string;
}

const folder = new URL('./', import.meta.url);
const stepName = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const compatibility = /^-- compatible with: (\d+)$/m;
let own: Promise<SchemaFiles> | undefined;

/** Reads the files of this version, once for all calls. */
export function readSchemaFiles(): Promise<SchemaFiles> {
  return (own ??= readAll());
}

async function readAll(): Promise<SchemaFiles> {
  const [tables, rest, functions, numbered, steps] = await Promise.all([
    readTexts('base/tables/'),
    readTexts('base/'),
    readFunctions(),
    readFile(new URL('functions.json', folder), 'utf8'),
    readSteps(),
  ]);
  const { number } = JSON.parse(numbered) as { readonly number: number };
  return {
    base: { tables, rest, checksum: sha256(tables + rest) },
    steps,
    functions: { number, text: functions, checksum: sha256(functions) },
  };
}

/** Returns the text of all functions, in the order of their paths. */
export async function readFunctions(): Promise<string> {
  const folders = await sorted('functions/', /^[a-z-]+$/);
  return (await Promise.all(folders.map((name) => readTexts(`functions/${name}/`)))).join('');
}

async function readSteps(): Promise<readonly Step[]> {
  const files = await sorted('steps/', stepName).catch((error: NodeJS.ErrnoException) => {
    // Neither Git nor npm keeps a folder without files.
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return Promise.all(files.map(readStep));
}

async function readStep(file: string, index: number): Promise<Step> {
  const [, digits, name] = stepName.exec(file) ?? [];
  const number = Number(digits);
  if (name === undefined || number !== index + 1) throw new Error(`step ${file} is out of order`);
  const text = await readText(`steps/${file}`);
  return {
    number,
    name,
    text,
    checksum: sha256(text),
    compatibleWith: Number(compatibility.exec(text)?.[1] ?? number),
  };
}

/** Returns the texts of the SQL files that are directly in a folder, in the order of their names. */
async function readTexts(path: string): Promise<string> {
  const files = await sorted(path, /\.sql$/);
  return (await Promise.all(files.map((file) => readText(path + file)))).join('\n');
}

async function sorted(path: string, names: RegExp): Promise<readonly string[]> {
  return (await readdir(new URL(path, folder))).filter((name) => names.test(name)).sort();
}

async function readText(path: string): Promise<string> {
  return (await readFile(new URL(path, folder), 'utf8')).replaceAll('\r\n', '\n');
}

/** Returns the SHA-256 of a text in hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
