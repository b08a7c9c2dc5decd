// @ts-check
import { spawnSync } from 'node:child_process';
import { ensureBuilt } from '../../scripts/lib/build.mjs';
import { inProject } from '../../scripts/lib/project.mjs';
import { say } from '../../scripts/lib/say.mjs';
import { findPostgres } from '../servers/find-postgres.mjs';
import { findRedis } from '../servers/find-redis.mjs';
import { startServersOfRun } from '../servers/servers-of-run.mjs';
import { runInProcessGroup } from './in-process-group.mjs';
import { parseOptions } from './options.mjs';
import { Budget } from './budget.mjs';
import { uses } from './classes.mjs';
import { testFiles } from './test-files.mjs';

/**
 * Starts the servers, runs the tests, ends the servers.
 * @param {string[]} args
 * @param {AbortSignal} aborted asks for an early end
 * @returns {Promise<boolean>} whether everything passed
 */
export async function runTests(args, aborted) {
  const options = parseOptions(args);
  // Before anything is started, so that a slip of the keyboard is told at once.
  const files = testFiles(options);
  const postgres = findPostgres();
  const redis = findRedis();
  say(`PostgreSQL ${postgres.version} in ${postgres.bin}`);
  say(redis ? `Redis ${redis.version} at ${redis.server}` : NO_REDIS);

  const compiles = await builds();
  const budget = new Budget(options.lane);
  const passed = await withServers(postgres, redis, async (addresses) => {
    const env = { ...addresses, TEST_SEED: options.seed ?? seedOfCommit() };
    return runInProcessGroup([inProject('test/runner/main.mjs'), ...args], env, aborted);
  });
  const cheap = budget.compare(options.record) || process.env['CI'] === undefined;
  if (!redis) tellWhatHadNoRedis(files);
  if (!compiles)
    say('The sources do not compile (see above), so the run has failed, whatever the tests say.');
  return passed && compiles && cheap && redis !== undefined;
}

/**
 * @template T
 * @param {ReturnType<typeof findPostgres>} postgres
 * @param {ReturnType<typeof findRedis>} redis
 * @param {(addresses: Record<string, string | undefined>) => Promise<T>} use
 */
async function withServers(postgres, redis, use) {
  const servers = startServersOfRun(postgres, redis);
  try {
    return await use(await servers.addresses());
  } finally {
    await servers.end();
  }
}

/** The same commit has the same run. */
function seedOfCommit() {
  const { stdout } = spawnSync('git', ['rev-parse', '--short=7', 'HEAD'], {
    cwd: inProject('.'),
    encoding: 'utf8',
  });
  return String(Number.parseInt(stdout || '1', 16));
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
