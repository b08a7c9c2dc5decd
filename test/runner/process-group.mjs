// @ts-check
/**
 * Runs a command that must not outlive the process that asked for it, nor leave anything it started behind.
 *
 *     node process-group.mjs COMMAND ARGUMENTS...
 *
 * The command leads a process group of its own. The whole group is killed when the command ends, and when this process's
 * standard input closes, which happens however the asking process ends.
 */
import { spawn } from 'node:child_process';
import { signal } from '../../scripts/lib/processes.mjs';

const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });

/** @param {number} code */
function end(code) {
  if (child.pid) signal(-child.pid, 'SIGKILL');
  process.exit(code);
}

child.once('error', (error) => {
  console.error(error.message);
  end(127);
});
child.once('exit', (code) => end(code ?? 1));
process.stdin.resume().once('close', () => end(1));
for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.once(name, () => end(1));
