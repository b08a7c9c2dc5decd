#!/usr/bin/env node
// @ts-check
/** `npm start`: installs and builds what is missing, then is the gateway. */
import './lib/node-version.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { endWithNpm } from './lib/parent.mjs';
import { fail } from './lib/say.mjs';

try {
  await ensureInstalled();
  await ensureBuilt({ client: false });
} catch (error) {
  fail(error);
}

endWithNpm();
// In this process rather than in a child, so that signals and exit codes need no forwarding.
await import(new URL('../dist/main.js', import.meta.url).href);
