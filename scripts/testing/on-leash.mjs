// @ts-check
import { spawn } from 'node:child_process';
import { inProject } from '../lib/project.mjs';

/**
 * Runs a Node program that may not leave any process behind, however this one ends.
 * @param {string[]} args program and its arguments
 * @param {Record<string, string | undefined>} env
 * @param {AbortSignal} aborted
 * @returns {Promise<boolean>} whether it succeeded
 */
export function runOnLeash(args, env, aborted) {
  return new Promise((resolve) => {
    const leash = spawn(
      process.execPath,
      [inProject('scripts/servers/leash.mjs'), process.execPath, ...args],
      {
        cwd: inProject('.'),
        env: { ...process.env, ...env },
        stdio: ['pipe', 'inherit', 'inherit'],
        // Ctrl-C in a terminal goes to the whole foreground group, and would end the leash before what it holds.
        detached: true,
      },
    );
    leash.once('exit', (code) => resolve(code === 0));
    const end = () => leash.stdin.end();
    if (aborted.aborted) end();
    aborted.addEventListener('abort', end);
  });
}
