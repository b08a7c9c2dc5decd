#!/usr/bin/env node
// @ts-check
/**
 * `npm run generate [-- --check | --ignored]`: writes what others read of the gateway from where it is written down: of
 * its configuration from src/config/gateway-file.ts and the chart's values.yaml, of its APIs from the schemas of their
 * routes, of the functions in the database their number. `--ignored` writes src/generated/ alone, which git ignores.
 * `--check` writes nothing else, and fails if a file is stale or CHANGELOG.md lacks what went since the last release;
 * `npm run check` does that.
 */
import './lib/node-version.mjs';
import './typescript/register.mjs';
import { existsSync, readFileSync } from 'node:fs';
import { inputDigest, markGenerated, writeIfChanged } from './lib/generated.mjs';
import { inProject } from './lib/project.mjs';
import { fail, say } from './lib/say.mjs';

try {
  const digest = inputDigest();
  // Only now can TypeScript sources be imported.
  const { make } = await import('./generate/made.ts');
  const documents = await make();
  markGenerated(digest);
  if (!process.argv.includes('--ignored')) {
    const { generatedFiles } = await import('./generate/files.mjs');
    const files = await generatedFiles(documents);
    if (process.argv.includes('--check')) {
      const stale = files.filter(({ file, text }) => read(file) !== text).map(({ file }) => file);
      if (stale.length > 0) throw new Error(`Stale, run \`npm run generate\`: ${stale.join(', ')}`);
      const { checkAgainstRelease } = await import('./generate/released.ts');
      checkAgainstRelease();
    } else for (const { file, text } of files) if (writeIfChanged(file, text)) say(`Wrote ${file}.`);
  }
} catch (error) {
  fail(error);
}

/** @param {string} file */
function read(file) {
  return existsSync(inProject(file)) ? readFileSync(inProject(file), 'utf8') : '';
}
