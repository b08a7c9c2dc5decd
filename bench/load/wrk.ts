import { join } from 'node:path';
import { root } from '../lib/files.ts';
import type { Process } from '../lib/processes.ts';
import type { Running, TargetEnvironment } from '../targets/target.ts';
import { tool } from '../lib/tools.ts';
import { headersOf, type RequestSpec } from './requests.ts';

/** What a closed loop got done. */
export interface ClosedLoop {
  readonly requests: number;
  readonly seconds: number;
  /** Of the responses, heads included. */
  readonly bytes: number;
  /** Broken connections, time-outs and responses that are not 2xx or 3xx. */
  readonly errors: number;
}

/** Sends as fast as responses come, on so many keep-alive connections, from one thread. */
export async function closedLoop(
  environment: TargetEnvironment,
  running: Running,
  spec: RequestSpec,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<ClosedLoop> {
  const headers = Object.entries(headersOf(running, spec)).flatMap(([name, value]) => [
    '-H',
    `${name}: ${value}`,
  ]);
  const options = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s'];
  const wrk = environment.processes.start({
    name: 'wrk',
    command: tool('wrk'),
    args: [...options, '-s', join(root, 'bench/load/wrk.lua'), ...headers, urlOf(running, spec)],
    core: environment.otherCore,
    env: {
      BENCH_METHOD: spec.method,
      BENCH_BODY_BYTES: String(spec.bodyBytes),
      BENCH_ACTING_ACCOUNTS: String(spec.actingAccounts ?? 0),
    },
    output: 'pipe',
  });
  const text = await outputOf(wrk);
  const result = /^RESULT (.*)$/m.exec(text)?.[1];
  if (result === undefined) throw new Error(`wrk printed no result:\n${text}${wrk.log.slice(-1_000)}`);
  return JSON.parse(result) as ClosedLoop;
}

/** What a process prints until it ends. */
async function outputOf(started: Process): Promise<string> {
  let text = '';
  started.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await started.exited;
  return text;
}

function urlOf({ port }: Running, { path }: RequestSpec): string {
  return `http://127.0.0.1:${port}${path}`;
}
