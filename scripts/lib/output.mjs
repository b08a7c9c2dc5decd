// @ts-check
/** Files of dist/ that are not bundles. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { inProject } from './project.mjs';

export const SRC = inProject('src');
export const DIST = inProject('dist');
/** What browsers get of the console. */
export const CONSOLE_FILES = join(DIST, 'console/static');
/** What browsers get of the portal. */
export const PORTAL_FILES = join(DIST, 'portal/static');

/** Read by the program at run time, so they go along as they are. */
const ASSET = /\.(sql|json|ya?ml)$/;

/** Copies what the program reads at run time. */
export function copyAssets() {
  for (const file of entries(SRC).filter((file) => ASSET.test(file) && statSync(file).isFile())) {
    const copy = join(DIST, relative(SRC, file));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(file, copy);
  }
}

/** Lets the operator's commands be called by name. */
export function markExecutables() {
  chmodSync(join(DIST, 'cli.js'), 0o755);
}

/**
 * The time of the newest among files and everything in folders. Folders count too, for what was removed from them.
 * @param {string[]} paths
 */
export function newest(paths) {
  const all = paths.flatMap((path) => (statSync(path).isDirectory() ? [path, ...entries(path)] : [path]));
  return Math.max(...all.map((path) => statSync(path).mtimeMs));
}

/** @param {string} folder @returns {string[]} */
function entries(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}
