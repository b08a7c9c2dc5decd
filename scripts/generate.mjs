#!/usr/bin/env node
// @ts-check
/**
 * `npm run generate [-- --check]`: writes what others read of the gateway from where it is written down: of its
 * configuration from src/config/gateway-file.ts and the chart's values.yaml, of its APIs from the schemas of their routes, of the
 * functions in the database from their files. With --check it writes nothing and fails where a file is stale, which `npm run check` does.
 */
import './lib/node-version.mjs';
import './typescript/register.mjs';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { inProject } from './lib/project.mjs';
import { fail, say } from './lib/say.mjs';

try {
  // Only now can TypeScript sources be imported.
  const { generatedFiles } = await import('./generate/files.mjs');
  const stale = (await generatedFiles()).filter(({ file, text }) => read(file) !== text);
  if (process.argv.includes('--check')) {
    if (stale.length > 0)
      throw new Error(`Stale, run \`npm run generate\`: ${stale.map(({ file }) => file).join(', ')}`);
  } else {
    for (const { file, text } of stale) {
      writeFileSync(inProject(file), text);
      say(`Wrote ${file}.`);
    }
  }
} catch (error) {
  fail(error);
}

/** @param {string} file */
function read(file) {
  return existsSync(inProject(file)) ? readFileSync(inProject(file), 'utf8') : '';
}
