import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gateway } from './contenders/gateway.ts';
import { onGround } from './ground.ts';
import { root } from './lib/files.ts';
import { inventTenants } from './lib/tenants.ts';
import { get } from './load/target.ts';
import { closedLoop } from './load/wrk.ts';
import type { Options } from './options.ts';
import { table } from './report/tables.ts';

const profiledSeconds = 10;

/** Runs the gateway alone under small reads with Node's profiler on. @returns its most expensive functions */
export function profileGateway(options: Options): Promise<string> {
  const profiles = join(root, '.cache/bench/profile');
  rmSync(profiles, { recursive: true, force: true });
  return onGround(options, async ({ dir, processes, upstream, proxyCore, otherCore }) => {
    const stage = {
      processes,
      dir,
      upstreamPort: upstream.port,
      tenants: inventTenants(),
      proxyCore,
      otherCore,
      nodeFlags: ['--cpu-prof', `--cpu-prof-dir=${profiles}`],
    };
    const running = await gateway.start(stage);
    try {
      await closedLoop(stage, running, get('/bytes/100'), { connections: 64, seconds: profiledSeconds });
    } finally {
      await running.stop(); // Node writes the profile when it ends
    }
    return topFunctions(profiles);
  });
}

/** What `node --cpu-prof` writes, as far as it is read here. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  /** Node the sampler found, and the microseconds since the sample before. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The functions a profile found most often at the top of the stack. @param dir holds the profile */
function topFunctions(dir: string, count = 40): string {
  const file = readdirSync(dir).find((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('Node wrote no profile');
  const profile = JSON.parse(readFileSync(join(dir, file), 'utf8')) as CpuProfile;
  const places = new Map(profile.nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const times = new Map<string, number>();
  profile.samples.forEach((id, i) => {
    const place = places.get(id) ?? '?';
    if (!place.startsWith('(idle)')) times.set(place, (times.get(place) ?? 0) + (profile.timeDeltas[i] ?? 0));
  });
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  const rows = [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([place, time]) => [place, `${((100 * time) / all).toFixed(1)} %`]);
  return table(['function', 'self'], rows);
}

function placeOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url;
  return `${functionName || '(anonymous)'} ${file === '' ? '' : `${file}:${lineNumber + 1}`}`.trim();
}
