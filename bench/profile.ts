import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gateway, gatewayWithAccessLog } from './targets/gateway.ts';
import { inEnvironment } from './environment.ts';
import { root } from './lib/files.ts';
import { ownNode } from './lib/node-runtime.ts';
import { inventTenants } from './lib/tenants.ts';
import { buildPaced } from './load/paced.ts';
import type { Options } from './options.ts';
import { table } from './report/tables.ts';
import { scenarios } from './scenarios/all.ts';

const warmUpSeconds = 5;
const profiledSeconds = 20;
const rowsShown = 45;

/** Runs the gateway alone in one case with Node's profiler on. @returns what it spent its time on */
export function profileGateway(caseId: string, options: Options): Promise<string> {
  const measured = Object.values(scenarios)
    .flat()
    .find(({ id }) => id === caseId);
  if (measured === undefined) throw new Error(`there is no case ${caseId}`);
  const profiles = join(root, '.cache/bench/profile');
  rmSync(profiles, { recursive: true, force: true });
  return inEnvironment(options, async ({ dir, processes, upstream, proxyCore, otherCore }) => {
    buildPaced();
    const [node = ownNode] = options.nodes;
    const environment = {
      processes,
      dir,
      upstreamPort: upstream.port,
      tenants: inventTenants(),
      proxyCore,
      otherCore,
      node: { ...node, flags: [...node.flags, '--cpu-prof', `--cpu-prof-dir=${profiles}`] },
    };
    const running = await (options.accessLog ? gatewayWithAccessLog : gateway).start(environment);
    const target = { name: gateway.name, environment, running, upstream };
    let from: number;
    try {
      await measured.measure(target, { ...options, seconds: warmUpSeconds });
      from = Number(process.hrtime.bigint() / 1_000n);
      await measured.measure(target, { ...options, seconds: profiledSeconds });
    } finally {
      await running.stop(); // Node writes the profile when it ends
    }
    return topOfStack(profiles, from);
  });
}

/** What `node --cpu-prof` writes, as far as it is read here. Times in microseconds. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  /** On the monotonic clock of the system. */
  readonly startTime: number;
  /** Node the sampler found, and the time since the sample before. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/**
 * What was at the top of the stack, by where it comes from and by function.
 *
 * @param dir holds the profile
 * @param from start of the load, microseconds of the monotonic clock: what came before is left out
 */
function topOfStack(dir: string, from: number): string {
  const file = readdirSync(dir).find((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('Node wrote no profile');
  const profile = JSON.parse(readFileSync(join(dir, file), 'utf8')) as CpuProfile;
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const [functions, origins] = [new Map<string, number>(), new Map<string, number>()];
  let now = profile.startTime;
  profile.samples.forEach((id, i) => {
    const [frame, time] = [frames.get(id), profile.timeDeltas[i] ?? 0];
    now += time;
    if (now < from || frame === undefined || frame.functionName === '(idle)') return;
    add(functions, `${frame.functionName || '(anonymous)'} ${placeOf(frame)}`.trim(), time);
    add(origins, originOf(frame), time);
  });
  return `${shares('where', origins)}\n\n${shares('function', functions)}`;
}

function add(times: Map<string, number>, name: string, time: number): void {
  times.set(name, (times.get(name) ?? 0) + time);
}

function shares(title: string, times: ReadonlyMap<string, number>): string {
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  const rows = [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, rowsShown)
    .map(([name, time]) => [name, `${((100 * time) / all).toFixed(1)} %`]);
  return table([title, 'self'], rows);
}

function placeOf({ url, lineNumber }: CallFrame): string {
  return url === '' ? '' : `${fileOf(url)}:${lineNumber + 1}`;
}

/** A folder of ours, a package, a module of Node, or native code by its name. */
function originOf({ functionName, url }: CallFrame): string {
  if (url === '') return `native ${functionName}`;
  const [first = '', second = '', third = ''] = fileOf(url).split('/');
  if (first !== 'node_modules') return second === '' ? first : `${first}/${second}`;
  return second.startsWith('@') ? `${second}/${third}` : second;
}

function fileOf(url: string): string {
  return url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url;
}
