import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Running, TargetEnvironment } from '../targets/target.ts';
import { root } from '../lib/files.ts';
import type { Processes } from '../lib/processes.ts';
import { findTool } from '../lib/tools.ts';
import { headersOf, type RequestSpec } from './requests.ts';

/** What a constant rate got. Times in microseconds, counted from when a request was due. */
export interface OpenLoop {
  readonly due: number;
  readonly responses: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  /** How late the generator itself was at the 99th percentile: what it adds to the figures above. */
  readonly ownLagP99: number;
  /** Connections that ended before a response. */
  readonly broken: number;
  /** 503s that did not say when to try again. */
  readonly withoutRetryAfter: number;
  /** How many responses had each status. */
  readonly statuses: Readonly<Record<string, number>>;
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

/** Sends one kind of request at a constant rate whatever becomes of the requests before (`paced.c`). */
export function constantRate(
  { processes, dir, otherCore: core }: TargetEnvironment,
  running: Running,
  spec: RequestSpec,
  rhythm: Rhythm,
): Promise<OpenLoop> {
  const request = rawRequest(running.port, spec.method, spec.path, {
    headers: headersOf(running, spec),
    bodyBytes: spec.bodyBytes,
  });
  return sendAtRate({ processes, dir, core, port: running.port, request, ...rhythm });
}

/** How fast, how long, and over how many connections: as many requests as those may be under way. */
export interface Rhythm {
  readonly rate: number;
  readonly seconds: number;
  readonly connections: number;
}

export interface Pacing extends Rhythm {
  readonly processes: Processes;
  /** Folder for what it is to send. */
  readonly dir: string;
  readonly core: number;
  readonly port: number;
  /** As it goes over the wire; `{key}` is replaced where there are keys. */
  readonly request: string;
  /** API keys to send in turn. */
  readonly keys?: readonly string[];
  /** Whether what could not be sent in time is not made up for at once (`-e`). */
  readonly evenly?: boolean;
  /** Whether it goes before the others on its core. */
  readonly first?: boolean;
  /** Told every {@link slotMs} what came in since. */
  readonly onSlot?: (slot: Slot) => void;
}

/** Responses of a short time, by what they were. */
export interface Slot {
  readonly ok: number;
  readonly unavailable: number;
  readonly other: number;
  /** Connections that ended instead. */
  readonly broken: number;
}

export const slotMs = 50;

let files = 0;

/** Sends at a constant rate whatever becomes of the requests before (`paced.c`). */
export async function sendAtRate(pacing: Pacing): Promise<OpenLoop> {
  const { processes, dir, core, port, request, keys, rate, seconds, connections, onSlot } = pacing;
  const file = join(dir, `request-${++files}`);
  writeFileSync(file, request);
  if (keys !== undefined) writeFileSync(`${file}-keys`, `${keys.join('\n')}\n`);
  const options = [
    ...(pacing.evenly === true ? ['-e'] : []),
    ...(keys === undefined ? [] : ['-k', `${file}-keys`]),
    ...(onSlot === undefined ? [] : ['-s', slotMs]),
  ];
  const paced = processes.start({
    name: 'paced',
    command: program,
    args: [...options, port, rate, seconds, connections, file].map(String),
    core,
    output: 'pipe',
  });
  if (pacing.first === true) paced.goFirst();
  if (paced.stdout === null) throw new Error('nothing to read from');
  let last = '';
  for await (const line of createInterface({ input: paced.stdout })) {
    last = line;
    if (line.startsWith('[')) onSlot?.(slotOf(JSON.parse(line) as [number, number, number, number]));
  }
  rmSync(`${file}-keys`, { force: true });
  if (!last.startsWith('{')) throw new Error(`the load generator failed:\n${paced.log.slice(-1_000)}`);
  return JSON.parse(last) as OpenLoop;
}

/** A request as it goes over the wire. */
export function rawRequest(
  port: number,
  method: string,
  path: string,
  { headers, bodyBytes = 0 }: { readonly headers: Record<string, string>; readonly bodyBytes?: number },
): string {
  const all = {
    host: `127.0.0.1:${port}`,
    ...headers,
    ...(bodyBytes > 0 && { 'content-length': String(bodyBytes) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${'x'.repeat(bodyBytes)}`;
}

function slotOf([ok, unavailable, other, broken]: readonly [number, number, number, number]): Slot {
  return { ok, unavailable, other, broken };
}
