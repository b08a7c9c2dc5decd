import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Running, Stage } from '../contenders/contender.ts';
import { root } from '../lib/files.ts';
import { findTool } from '../lib/tools.ts';
import { headersOf, type Exchange } from './target.ts';
import { outputOf } from './wrk.ts';

/** What a constant rate got. Times in microseconds, counted from when a request was due. */
export interface OpenLoop {
  readonly due: number;
  readonly answered: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  /** How late the generator itself was at the 99th percentile: what it adds to the figures above. */
  readonly ownLagP99: number;
}

const program = join(root, '.cache/bench/paced');

/** How to get what {@link constantRate} needs, or `undefined`. */
export function pacedMissing(): string | undefined {
  return findTool('cc') === undefined ? 'apt-get install gcc libc6-dev' : undefined;
}

/** Compiles the generator; once a run. */
export function buildPaced(): void {
  mkdirSync(dirname(program), { recursive: true });
  execFileSync('cc', ['-O2', '-o', program, join(root, 'bench/load/paced.c')], { stdio: 'inherit' });
}

/** Sends at a constant rate whatever becomes of the requests before (`paced.c`). */
export async function constantRate(
  stage: Stage,
  running: Running,
  exchange: Exchange,
  {
    connections,
    seconds,
    rate,
  }: { readonly connections: number; readonly seconds: number; readonly rate: number },
): Promise<OpenLoop> {
  const request = join(stage.dir, 'request');
  writeFileSync(request, rawRequest(running, exchange));
  const paced = stage.processes.start({
    name: 'paced',
    command: program,
    args: [running.port, rate, seconds, connections, request].map(String),
    core: stage.otherCore,
    output: 'pipe',
  });
  const text = await outputOf(paced);
  if (text === '') throw new Error(`the load generator failed:\n${paced.log.slice(-1_000)}`);
  return JSON.parse(text) as OpenLoop;
}

function rawRequest(running: Running, exchange: Exchange): string {
  const headers = {
    host: `127.0.0.1:${running.port}`,
    ...headersOf(running, exchange),
    ...(exchange.bodyBytes > 0 && { 'content-length': String(exchange.bodyBytes) }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${exchange.method} ${exchange.path} HTTP/1.1\r\n${lines.join('')}\r\n${'x'.repeat(exchange.bodyBytes)}`;
}
