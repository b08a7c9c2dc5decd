// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inProject } from '../../scripts/lib/project.mjs';

/** @typedef {{ url: string, end: () => Promise<void> }} SupervisedServer */

/**
 * Starts a server that lives until `end` is called or this process is gone.
 * @param {'postgres' | 'redis'} kind
 * @param {object} options
 * @returns {Promise<SupervisedServer>}
 */
export async function startSupervised(kind, options) {
  const args = [inProject('test/servers/supervisor.mjs'), kind, JSON.stringify(options)];
  // Detached: Ctrl-C in a terminal goes to the whole foreground group, and would end it before the tests.
  const supervisor = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const ended = once(supervisor, 'exit');
  supervisor.stdin.write('start\n');
  for await (const line of createInterface({ input: supervisor.stdout })) {
    const answer = JSON.parse(line);
    if (!answer.ok) throw new Error(answer.error);
    return {
      url: answer.url,
      end: async () => {
        supervisor.stdin.end();
        await ended;
      },
    };
  }
  throw new Error(`The ${kind} server's supervisor ended before the server started.`);
}
