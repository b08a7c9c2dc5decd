#!/usr/bin/env node
// @ts-check
/** `npm run bench [-- OPTIONS]`: builds the gateway, compiles bench/ and measures. */
import './lib/node-version.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { findPostgres } from '../test/servers/find-postgres.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { endWithNpm } from './lib/parent.mjs';
import { inProject } from './lib/project.mjs';
import { run } from './lib/run.mjs';
import { fail } from './lib/say.mjs';

endWithNpm();

try {
  await ensureInstalled();
  await ensureBuilt();
  run(process.execPath, [inProject('node_modules/typescript/bin/tsc'), '-p', 'tsconfig.bench.json'], {
    cwd: inProject('.'),
  });
  process.env['TEST_POSTGRES_BIN'] ??= findPostgres().bin;
  const { main } = await import(inProject('.cache/bench/build/bench/main.js'));
  await main(process.argv.slice(2));
} catch (error) {
  fail(error);
}
