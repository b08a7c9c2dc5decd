#!/usr/bin/env node
// @ts-check
/** `npm run fuzz [-- OPTIONS]`: hostile clients and hostile upstreams around a real gateway, for as long as is wanted. */
import './lib/node-version.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { findPostgres } from './lib/find-postgres.mjs';
import { findRedis } from './lib/find-redis.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { endWithNpm } from './lib/parent.mjs';
import { inProject } from './lib/project.mjs';
import { fail } from './lib/say.mjs';
import { runOnLeash } from './testing/on-leash.mjs';

const abort = new AbortController();
for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.once(name, () => abort.abort());

endWithNpm();

try {
  await ensureInstalled();
  await ensureBuilt();
  const redis = findRedis();
  if (!redis) throw new Error('There is no Redis server on this machine.');
  const servers = { TEST_POSTGRES_BIN: findPostgres().bin, TEST_REDIS_SERVER: redis.server };
  const program = ['--import', inProject('scripts/typescript/register.mjs'), inProject('test/fuzz/main.ts')];
  const passed = await runOnLeash([...program, ...process.argv.slice(2)], servers, abort.signal);
  process.exitCode = passed ? 0 : 1;
} catch (error) {
  fail(error);
}
