// @ts-check
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { inProject } from './project.mjs';

/** More at once would only make the tests that measure time wait for each other. */
const MOST_JOBS = 4;

/**
 * Runs tap, which may not leave any process behind.
 * @param {string[]} args
 * @param {AbortSignal} aborted
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<boolean>} whether everything passed
 */
export function runTap(args, aborted, env) {
  const jobs = Math.min(availableParallelism(), MOST_JOBS);
  const command = [
    process.execPath,
    inProject('node_modules/tap/dist/esm/run.mjs'),
    `--jobs=${jobs}`,
    ...args,
  ];
  return new Promise((resolve) => {
    const leash = spawn(process.execPath, [inProject('scripts/servers/leash.mjs'), ...command], {
      cwd: inProject('.'),
      env: { ...process.env, ...env },
      stdio: ['pipe', 'inherit', 'inherit'],
      // Ctrl-C in a terminal goes to the whole foreground group, and would end the leash before what it holds.
      detached: true,
    });
    leash.once('exit', (code) => resolve(code === 0));
    const end = () => leash.stdin.end();
    if (aborted.aborted) end();
    aborted.addEventListener('abort', end);
  });
}
