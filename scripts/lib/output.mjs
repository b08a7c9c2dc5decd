// @ts-check
/** Which file of dist/ comes from which file of src/. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { inProject } from './project.mjs';

export const SRC = inProject('src');
export const DIST = inProject('dist');
/** What browsers get of the console. */
export const CONSOLE_FILES = join(DIST, 'console/static');
/** What browsers get of the portal. */
export const PORTAL_FILES = join(DIST, 'portal/static');

/** Read by the program at run time, so they go along as they are; functions of the database are in its steps. */
const ASSET = /\.(sql|json|ya?ml)$/;
const SOURCE = /(?<!\.d)\.ts$/;

/** Whether every source has its compiled file. */
export function everySourceIsCompiled() {
  return files(SRC)
    .filter((file) => SOURCE.test(file))
    .every((file) => existsSync(compiled(file)));
}

/** Copies what the program reads at run time. */
export function copyAssets() {
  for (const file of files(SRC).filter((file) => ASSET.test(file))) {
    const copy = join(DIST, relative(SRC, file));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(file, copy);
  }
}

/** Removes what came from sources that no longer exist. */
export function removeOrphans() {
  const wanted = new Set(
    files(SRC).flatMap((file) => {
      if (ASSET.test(file)) return [join(DIST, relative(SRC, file))];
      return SOURCE.test(file) ? [compiled(file), `${compiled(file)}.map`] : [];
    }),
  );
  for (const file of files(DIST)) {
    if ([CONSOLE_FILES, PORTAL_FILES].some((folder) => file.startsWith(folder + sep))) continue;
    const isOurs = /\.js(\.map)?$/.test(file) || ASSET.test(file);
    if (isOurs && !wanted.has(file)) rmSync(file);
  }
}

/** Lets the operator's commands be called by name. */
export function markExecutables() {
  const cli = join(DIST, 'cli.js');
  if (existsSync(cli)) chmodSync(cli, 0o755);
}

/**
 * The time of the newest among files and everything in folders. Folders count too, for what was removed from them.
 * @param {string[]} paths
 */
export function newest(paths) {
  const all = paths.flatMap((path) => (statSync(path).isDirectory() ? [path, ...entries(path)] : [path]));
  return Math.max(...all.map((path) => statSync(path).mtimeMs));
}

/** @param {string} source */
function compiled(source) {
  return join(DIST, relative(SRC, source)).replace(SOURCE, '.js');
}

/** @param {string} folder */
function files(folder) {
  return entries(folder).filter((path) => statSync(path).isFile());
}

/** @param {string} folder @returns {string[]} */
function entries(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}
