// @ts-check
import { ensureBuilt } from '../../scripts/lib/build.mjs';
import { inProject } from '../../scripts/lib/project.mjs';
import { say } from '../../scripts/lib/say.mjs';
import { findPostgres } from '../servers/find-postgres.mjs';
import { findRedis } from '../servers/find-redis.mjs';
import { startServersOfRun } from '../servers/servers-of-run.mjs';
import { runInProcessGroup } from './in-process-group.mjs';
import { parseOptions } from './options.mjs';
import { uses } from './classes.mjs';
import { testFiles } from './test-files.mjs';

/**
 * Starts the servers, runs the tests, ends the servers.
 * @param {string[]} args
 * @param {AbortSignal} aborted asks for an early end
 * @returns {Promise<boolean>} whether everything passed
 */
export async function runTests(args, aborted) {
  // Before anything is started, so that a slip of the keyboard is told at once.
  const files = testFiles(parseOptions(args));
  const postgres = findPostgres();
  const redis = findRedis();
  say(`PostgreSQL ${postgres.version} in ${postgres.bin}`);
  say(redis ? `Redis ${redis.version} at ${redis.server}` : NO_REDIS);

  const servers = startServersOfRun(postgres, redis);
  try {
    const compiles = await builds();
    const addresses = await servers.addresses();
    const passed = await runInProcessGroup([inProject('test/runner/main.mjs'), ...args], addresses, aborted);
    if (!redis) tellWhatHadNoRedis(files);
    if (!compiles)
      say('The sources do not compile (see above), so the run has failed, whatever the tests say.');
    return passed && compiles && redis !== undefined;
  } finally {
    await servers.end();
  }
}

const NO_REDIS =
  'Redis: none found, and it cannot be installed here (apt-get, as root, could). Put redis-server 7+ on the PATH.';

/** What does not compile does not keep the other tests from running. */
async function builds() {
  try {
    await ensureBuilt();
    return true;
  } catch (error) {
    say(String(error));
    return false;
  }
}

/** @param {import('./test-files.mjs').TestFile[]} files */
function tellWhatHadNoRedis(files) {
  say('Without Redis these could not run:');
  for (const { file } of files) if (uses(file, 'redis.ts')) say(`  ${file}`);
}
