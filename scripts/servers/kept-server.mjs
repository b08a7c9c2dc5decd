// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inProject } from '../lib/project.mjs';

/** @typedef {{ url: string, end: () => Promise<void> }} KeptServer */

/**
 * Starts a server that lives until `end` is called or this process is gone.
 * @param {'postgres' | 'redis'} kind
 * @param {object} options
 * @returns {Promise<KeptServer>}
 */
export async function startKeptServer(kind, options) {
  const args = [inProject('scripts/servers/keeper.mjs'), kind, JSON.stringify(options)];
  // Detached: Ctrl-C in a terminal goes to the whole foreground group, and would end it before the tests.
  const keeper = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const ended = once(keeper, 'exit');
  keeper.stdin.write('start\n');
  for await (const line of createInterface({ input: keeper.stdout })) {
    const answer = JSON.parse(line);
    if (!answer.ok) throw new Error(answer.error);
    return {
      url: answer.url,
      end: async () => {
        keeper.stdin.end();
        await ended;
      },
    };
  }
  throw new Error(`The ${kind} server's keeper ended before the server started.`);
}
