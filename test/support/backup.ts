/** Backups as administrators make them, with PostgreSQL's own tools. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';

const run = promisify(execFile);

/** Where `pg_dump` and `pg_restore` are; `null` where they are not installed. */
export const backupTools: string | null =
  [process.env['TEST_POSTGRES_BIN'] ?? '', ...(process.env['PATH'] ?? '').split(delimiter)].find(
    (folder) => folder !== '' && ['pg_dump', 'pg_restore'].every((tool) => existsSync(join(folder, tool))),
  ) ?? null;

/** `pg_dump` of the database at `url` into `file`. */
export async function dump(url: string, file: string): Promise<void> {
  await run(join(backupTools ?? '', 'pg_dump'), ['--format=custom', `--file=${file}`, `--dbname=${url}`]);
}

/** Lines of `pg_dump --schema-only` of the database at `url`. */
export async function dumpSchema(url: string): Promise<readonly string[]> {
  const args = ['--schema-only', `--dbname=${url}`];
  const { stdout } = await run(join(backupTools ?? '', 'pg_dump'), args, { maxBuffer: 2 ** 24 });
  // Newer ones begin and end with a word that is drawn.
  return stdout.split('\n').filter((line) => !/^\\(?:un)?restrict /.test(line));
}

/** Drops the database at `url` under all its connections, and makes it again from `file`. */
export async function restore(url: string, file: string): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  const server = new URL(url);
  server.pathname = '/postgres';
  const sql = postgres(server.href, { max: 1, onnotice: () => undefined });
  try {
    await sql.unsafe(`drop database ${database} with (force)`);
    await sql.unsafe(`create database ${database} template template0`);
  } finally {
    await sql.end();
  }
  await run(join(backupTools ?? '', 'pg_restore'), [
    '--single-transaction',
    '--exit-on-error',
    `--dbname=${url}`,
    file,
  ]);
}
