// @ts-check
import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { alone } from './lock.mjs';
import { inProject } from './project.mjs';
import { runAside } from './run.mjs';
import { during } from './say.mjs';

const LOCK = inProject('package-lock.json');
// npm writes this at the end of every install: what it put into node_modules.
const INSTALLED = inProject('node_modules/.package-lock.json');

/** @typedef {Record<string, { version?: string, optional?: boolean, dev?: boolean }>} Packages */

/** Runs `npm ci` unless node_modules holds what package-lock.json asks for, development tools included. */
export async function ensureInstalled() {
  if (isInstalled()) return;
  // Tools are needed to build, whatever NODE_ENV says.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await alone(async () => {
    if (isInstalled()) return;
    await during('Installing dependencies (npm ci)', 'Installed', () =>
      runAside('npm', args, { cwd: inProject('.') }),
    );
  });
}

function isInstalled() {
  if (!existsSync(INSTALLED) || !existsSync(inProject('node_modules/typescript'))) return false;
  if (statSync(INSTALLED).mtimeMs >= statSync(LOCK).mtimeMs) return true;
  // A newer file need not differ: `npm install NAME` and git write it, too.
  if (!holds(packagesOf(INSTALLED), packagesOf(LOCK))) return false;
  utimesSync(INSTALLED, new Date(), new Date());
  return true;
}

/**
 * @param {Packages} installed
 * @param {Packages} wanted
 */
function holds(installed, wanted) {
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true; // the project itself
    const found = installed[path];
    // Optional packages are often for another platform.
    return found ? found.version === version : optional === true;
  });
}

/** @param {string} file @returns {Packages} */
function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}
