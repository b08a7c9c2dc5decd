// @ts-check
import { ensureBuilt } from '../lib/build.mjs';
import { findPostgres } from '../lib/find-postgres.mjs';
import { findRedis } from '../lib/find-redis.mjs';
import { ensureInstalled } from '../lib/install.mjs';
import { endWithNpm } from '../lib/parent.mjs';
import { inProject } from '../lib/project.mjs';
import { fail } from '../lib/say.mjs';
import { runOnLeash } from './on-leash.mjs';

/**
 * Runs a TypeScript program of the project with the arguments of this process. It finds the build done, and where
 * servers are in `TEST_POSTGRES_BIN` and `TEST_REDIS_SERVER`; whatever it starts ends with it. Its exit code becomes ours.
 * @param {string} file from the root of the project
 * @param {{ redis: boolean }} needs
 */
export async function runWithServers(file, needs) {
  const abort = new AbortController();
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.once(name, () => abort.abort());
  endWithNpm();
  try {
    await ensureInstalled();
    await ensureBuilt();
    const redis = findRedis();
    if (needs.redis && !redis) throw new Error('There is no Redis server on this machine.');
    const servers = { TEST_POSTGRES_BIN: findPostgres().bin, TEST_REDIS_SERVER: redis?.server };
    const program = ['--import', inProject('scripts/typescript/register.mjs'), inProject(file)];
    const passed = await runOnLeash([...program, ...process.argv.slice(2)], servers, abort.signal);
    process.exitCode = passed ? 0 : 1;
  } catch (error) {
    fail(error);
  }
}
