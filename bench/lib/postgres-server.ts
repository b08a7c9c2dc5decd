import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './files.ts';

/** A PostgreSQL server of this run's own. */
export interface KeptServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

interface KeeperAnswer {
  readonly ok: boolean;
  readonly url: string;
  readonly pid: number;
  readonly error: string;
}

/**
 * Starts PostgreSQL in a folder that goes away with it. A keeper process ends it when this process is gone, however
 * it went; it inherits the core this process runs on.
 *
 * @param bin folder of PostgreSQL's programs
 */
export async function startPostgres(bin: string): Promise<KeptServer> {
  // What a commit costs is part of what is measured: the tests' shortcut is taken back.
  const options = JSON.stringify({ bin, settings: { fsync: 'on' } });
  const keeper = spawn(process.execPath, [join(root, 'test/servers/supervisor.mjs'), 'postgres', options], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const ended = once(keeper, 'exit');
  keeper.stdin.on('error', () => undefined);
  keeper.stdin.write('start\n');
  for await (const line of createInterface({ input: keeper.stdout })) {
    const answer = JSON.parse(line) as KeeperAnswer;
    if (!answer.ok) throw new Error(answer.error);
    return {
      url: answer.url,
      pid: answer.pid,
      stop: async () => {
        keeper.stdin.end();
        await ended;
      },
    };
  }
  throw new Error('PostgreSQL did not start');
}
