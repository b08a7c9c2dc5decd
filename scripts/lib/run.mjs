// @ts-check
import { spawnSync } from 'node:child_process';

/**
 * Runs a command to its end, its output going to stderr, and throws if it failed.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, {
    stdio: ['ignore', 2, 2],
    // npm is a batch file there, which only a shell can run.
    shell: process.platform === 'win32' && command === 'npm',
    ...options,
  });
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} failed${error ? `: ${error.message}` : ''}`);
}
