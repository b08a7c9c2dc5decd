// @ts-check
import { spawn } from 'node:child_process';
import { inProject } from '../../scripts/lib/project.mjs';

/**
 * Runs a Node program that may not leave any process behind, however this one ends.
 * @param {string[]} args program and its arguments
 * @param {Record<string, string | undefined>} env
 * @param {AbortSignal} aborted
 * @returns {Promise<boolean>} whether it succeeded
 */
export function runInProcessGroup(args, env, aborted) {
  return new Promise((resolve) => {
    const supervisor = spawn(
      process.execPath,
      [inProject('test/runner/process-group.mjs'), process.execPath, ...args],
      {
        cwd: inProject('.'),
        env: { ...process.env, ...env },
        stdio: ['pipe', 'inherit', 'inherit'],
        // Ctrl-C in a terminal goes to the whole foreground group, and would end the supervisor before the processes it is to end.
        detached: true,
      },
    );
    supervisor.once('exit', (code) => resolve(code === 0));
    const end = () => supervisor.stdin.end();
    if (aborted.aborted) end();
    aborted.addEventListener('abort', end);
  });
}
