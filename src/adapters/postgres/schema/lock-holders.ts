import type { Statements } from '../connection/sql.ts';

/** A lock that a session is waiting for, and one session that holds it. */
interface Blocked {
  readonly mode: string;
  readonly table_name: string | null;
  readonly pid: number;
  /** Null if the session has ended, or if this user may not see the session. */
  readonly application: string | null;
  readonly state: string | null;
  readonly seconds: number | null;
}

/**
 * Describes which lock the session `pid` is waiting for, and which sessions hold the lock. Details that this
 * user may not see are left out. Returns `undefined` if the session is not waiting.
 */
export async function describeWait(sql: Statements, pid: number): Promise<string | undefined> {
  const rows = await sql<Blocked[]>`
    select l.mode, l.relation::regclass::text as table_name, b.pid, a.application_name as application, a.state,
      extract(epoch from clock_timestamp() - a.xact_start)::float8 as seconds
    from pg_locks l cross join unnest(pg_blocking_pids(l.pid)) b (pid) left join pg_stat_activity a on a.pid = b.pid
    where l.pid = ${pid} and not l.granted
    order by a.xact_start nulls last limit 5`;
  const [first] = rows;
  if (first === undefined) return undefined;
  const wanted = first.table_name === null ? 'a lock' : `${first.mode} on ${first.table_name}`;
  return `${wanted}, held by ${rows.map(describeHolder).join(' and ')}`;
}

function describeHolder({ pid, application, state, seconds }: Blocked): string {
  // PostgreSQL reports process id 0 for a transaction that was prepared for a two-phase commit.
  if (pid === 0) return 'a prepared transaction';
  const known = [
    application,
    state,
    seconds === null ? null : `its transaction began ${Math.round(seconds)} s ago`,
  ].filter((one) => one !== null && one !== '');
  return known.length === 0 ? `process ${pid}` : `process ${pid} (${known.join(', ')})`;
}
