// @ts-check
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inProject } from '../lib/project.mjs';
import { runsTypeScript } from './native.mjs';
import { withoutTypes } from './strip.mjs';

/**
 * Strips all sources in folders once, before many processes that need them start at the same time.
 * @param {string[]} folders
 */
export async function prepareSources(folders) {
  if (runsTypeScript) return;
  for (const folder of folders.map(inProject)) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (name.endsWith('.ts')) await withoutTypes(pathToFileURL(join(folder, name)));
    }
  }
}
