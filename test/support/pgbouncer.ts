/** A real PgBouncer in transaction mode, as far as there is one on this machine. */
import { spawnSync } from 'node:child_process';
import { startPrivateServer, type PrivateServer, type Scope } from './servers.ts';

const program = ['pgbouncer', '/usr/sbin/pgbouncer'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/** For `{ skip }` of a test that needs PgBouncer: false where it is here. */
export const withoutPgbouncer =
  program === undefined &&
  'nothing was tried through PgBouncer: install it (apt-get install pgbouncer), or run scripts/ci-tools.sh once';

/** Starts one in front of the database at `target`; it ends with the test. */
export function startPooler(t: Scope, target: string): Promise<PrivateServer> {
  return startPrivateServer(t, 'pgbouncer', { program, target });
}
