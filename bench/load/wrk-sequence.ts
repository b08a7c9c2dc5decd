import { join } from 'node:path';
import { root } from '../lib/files.ts';
import type { Processes } from '../lib/processes.ts';
import { tool } from '../lib/tools.ts';

/** What one tenant sends, over so many connections, each of which sends again as soon as it has its response. */
export interface Sequence {
  readonly connections: number;
  readonly path: string;
  readonly key: string;
  /** The acting header, where one is sent; a number of twelve digits, another one each time, takes the place of `{n}`. */
  readonly acting?: string | undefined;
}

/** Sends for so many seconds, from one thread. Returns how many responses had each status. */
export async function sendSequence(
  { processes, otherCore: core }: { readonly processes: Processes; readonly otherCore: number },
  port: number,
  { connections, path, key, acting = '' }: Sequence,
  seconds: number,
): Promise<Readonly<Record<string, number>>> {
  const wrk = processes.start({
    name: 'wrk',
    command: tool('wrk'),
    args: [
      ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '20s'],
      ...['-s', join(root, 'bench/load/wrk-sequence.lua'), '-H', `Authorization: Bearer ${key}`],
      `http://127.0.0.1:${port}${path}`,
    ],
    core,
    env: { BENCH_ACTING: acting },
    output: 'pipe',
  });
  let text = '';
  wrk.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await wrk.exited;
  const result = /^RESULT (.*)$/m.exec(text)?.[1];
  if (result === undefined) throw new Error(`wrk printed no result:\n${text}${wrk.log.slice(-1_000)}`);
  return JSON.parse(result) as Record<string, number>;
}
