// @ts-check
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a command to its end, its output going to stderr, and throws if it failed.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { ...usual(command), ...options });
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} failed${error ? `: ${error.message}` : ''}`);
}

/**
 * Like {@link run}, but leaves this process free meanwhile. What the command says is shown if it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export async function runAside(command, args, options = {}) {
  const child = spawn(command, args, { ...usual(command), ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${output}${command} ${args[0] ?? ''} failed`);
}

/** @param {string} command */
function usual(command) {
  return {
    stdio: /** @type {['ignore', 2, 2]} */ (['ignore', 2, 2]),
    // npm is a batch file there, which only a shell can run.
    shell: process.platform === 'win32' && command === 'npm',
  };
}
