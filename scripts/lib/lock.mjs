// @ts-check
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './processes.mjs';
import { inProject } from './project.mjs';

const FILE = inProject('.cache/prepare.lock');

/**
 * Lets one process at a time install or build in this folder, so that `npm start` beside `npm test` is safe.
 * @template T
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function alone(work) {
  mkdirSync(dirname(FILE), { recursive: true });
  while (!take()) await sleep(50);
  const release = () => rmSync(FILE, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

function take() {
  try {
    writeFileSync(FILE, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    removeIfAbandoned();
    return false;
  }
}

function removeIfAbandoned() {
  try {
    const holder = Number(readFileSync(FILE, 'utf8'));
    // Just created files are empty for a moment.
    if (holder && !isAlive(holder)) rmSync(FILE, { force: true });
  } catch {
    // released meanwhile
  }
}
