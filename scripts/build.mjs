#!/usr/bin/env node
// @ts-check
/** `npm run build`: compiles src/ to dist/. */
import './lib/node-version.mjs';
import { build } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { fail } from './lib/say.mjs';

try {
  await ensureInstalled();
  await build();
} catch (error) {
  fail(error);
}
