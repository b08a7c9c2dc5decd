#!/usr/bin/env node
// @ts-check
/**
 * `node scripts/with-servers.mjs [--redis] FILE [OPTIONS]`: runs a TypeScript program of the project, such as the one
 * behind `npm run faults`; package.json says which. It finds the build done, and where servers are in
 * `TEST_POSTGRES_BIN` and `TEST_REDIS_SERVER`; whatever it starts ends with it. Its exit code becomes ours.
 *
 * With `--redis` it does not start where there is no Redis server.
 */
import './lib/node-version.mjs';
import { runInProcessGroup } from '../test/runner/in-process-group.mjs';
import { findPostgres } from '../test/servers/find-postgres.mjs';
import { findRedis } from '../test/servers/find-redis.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { endWithNpm } from './lib/parent.mjs';
import { inProject } from './lib/project.mjs';
import { fail } from './lib/say.mjs';

const needsRedis = process.argv[2] === '--redis';
const [file = '', ...options] = process.argv.slice(needsRedis ? 3 : 2);

const abort = new AbortController();
for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.once(name, () => abort.abort());
endWithNpm();
try {
  await ensureInstalled();
  await ensureBuilt();
  const redis = findRedis();
  if (needsRedis && !redis) throw new Error('There is no Redis server on this machine.');
  const servers = { TEST_POSTGRES_BIN: findPostgres().bin, TEST_REDIS_SERVER: redis?.server };
  const program = ['--import', inProject('scripts/typescript/register.mjs'), inProject(file)];
  const passed = await runInProcessGroup([...program, ...options], servers, abort.signal);
  process.exitCode = passed ? 0 : 1;
} catch (error) {
  fail(error);
}
