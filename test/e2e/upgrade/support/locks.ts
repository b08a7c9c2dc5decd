/** Sessions that hold locks on all tables of a gateway's database, until they are let go. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { backupTools } from '../../../support/backup.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Scope } from '../../../support/servers.ts';
import { rawSql } from '../../../support/store.ts';

export interface Held {
  /** Lets them go; resolves when the locks are gone. */
  release(): Promise<void>;
}

/** As an idle transaction of an operator that has written, with its locks and its snapshot. */
export async function idleTransaction(t: Scope, url: string): Promise<Held> {
  const sql = rawSql(t, url);
  let letGo = (): void => undefined;
  let ended: Promise<unknown> = Promise.resolve();
  await new Promise<void>((holding, failed) => {
    ended = sql.begin('isolation level repeatable read', async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 0`;
      const tables = await tx<{ name: string }[]>`
        select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;
      for (const { name } of tables) await tx`lock table ${tx(name)} in access share mode`;
      await tx`update account set name = name where false`;
      holding();
      await new Promise<void>((resolve) => (letGo = resolve));
    });
    ended.catch(failed);
  });
  return {
    release: async () => {
      letGo();
      await ended;
    },
  };
}

/** A real `pg_dump` whose reader has stopped reading; `null` where there is none on this machine. */
export async function stoppedDump(t: Scope, url: string): Promise<Held | null> {
  if (backupTools === null) return null;
  const sql = rawSql(t, url);
  // More than a pipe holds, under a name that comes early.
  await sql`create table aaa_ballast as select repeat(md5(i::text), 40) as text from generate_series(1, 2000) i`;
  const child = spawn(join(backupTools, 'pg_dump'), [`--dbname=${url}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.pause();
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGKILL');
    child.stdout.resume();
    await ended;
  });
  await eventually(async () => {
    const [row] = await sql`
      select from pg_locks l join pg_stat_activity a using (pid)
      where a.application_name = 'pg_dump' and l.relation = 'replica'::regclass`;
    return row !== undefined;
  });
  return {
    release: async () => {
      child.stdout.resume();
      const [code] = (await ended) as [number | null];
      if (code !== 0) throw new Error(`pg_dump ended with ${code}`);
    },
  };
}
