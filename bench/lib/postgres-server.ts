import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './files.ts';

/** A PostgreSQL server of this run's own. */
export interface PostgresServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

interface SupervisorReply {
  readonly ok: boolean;
  readonly url: string;
  readonly pid: number;
  readonly error: string;
}

/**
 * Starts PostgreSQL in a folder that goes away with it. A supervisor process ends it when this process is gone, however
 * it went; it inherits the core this process runs on.
 *
 * @param bin folder of PostgreSQL's programs
 */
export async function startPostgres(bin: string): Promise<PostgresServer> {
  // What a commit costs is part of what is measured: the tests' shortcut is taken back.
  const options = JSON.stringify({ bin, settings: { fsync: 'on' } });
  const supervisor = spawn(
    process.execPath,
    [join(root, 'test/servers/supervisor.mjs'), 'postgres', options],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  );
  const ended = once(supervisor, 'exit');
  supervisor.stdin.on('error', () => undefined);
  supervisor.stdin.write('start\n');
  for await (const line of createInterface({ input: supervisor.stdout })) {
    const reply = JSON.parse(line) as SupervisorReply;
    if (!reply.ok) throw new Error(reply.error);
    return {
      url: reply.url,
      pid: reply.pid,
      stop: async () => {
        supervisor.stdin.end();
        await ended;
      },
    };
  }
  throw new Error('PostgreSQL did not start');
}
