import { join } from 'node:path';
import { buildAgainst, buildHere } from './builds.ts';
import { inEnvironment, type Environment } from './environment.ts';
import { buildPaced, pacedMissing } from './load/paced.ts';
import { describeMachine } from './machine.ts';
import { ownNode } from './lib/node-runtime.ts';
import { measureCase, merged, type Result } from './measure.ts';
import type { Options } from './options.ts';
import type { Memory, RunRecord, TargetRecord } from './report/record.ts';
import { StartedTargets } from './started-targets.ts';
import { targets } from './targets/all.ts';
import { gateway, gatewayBuiltAt, gatewayWithAccessLog, gatewayWithLimits } from './targets/gateway.ts';
import { nodeHttp } from './targets/node-http.ts';
import { onNode } from './targets/on-node.ts';
import type { Target } from './targets/target.ts';

/** Also for the first case of a start, however short the rounds are. */
const coldWarmUpSeconds = 3;

/** Which targets a run measures. */
interface Chosen {
  /** In every start. */
  readonly always: readonly Target[];
  /** In the first start only: they stand beside two builds, and are not what the run is about. */
  readonly once: readonly Target[];
  readonly builds?: readonly [a: string, b: string];
}

interface Start {
  readonly records: readonly TargetRecord[];
  readonly results: readonly Result[];
}

/** Starts the targets, measures every case on all of them in turn, and stops them, as often as the options say. */
export function compare(options: Options, say: (line: string) => void): Promise<RunRecord> {
  const [machine, began] = [describeMachine(), new Date()];
  return inEnvironment(options, async (environment) => {
    if (pacedMissing() === undefined) buildPaced();
    const { always, once, builds } = choose(options, environment.dir, say);
    const starts: Start[] = [];
    for (let number = 1; number <= options.starts; number++) {
      if (options.starts > 1) say(`Start ${number} of ${options.starts}`);
      // A target that waits for the others to start gives memory back meanwhile, so no build is always the first.
      const ordered = number % 2 === 0 ? always.toReversed() : always;
      const wanted = number === 1 ? [...ordered, ...once] : ordered;
      starts.push(await measureStart(environment, number, wanted, options, say, builds));
    }
    return {
      began: began.toISOString(),
      minutes: Math.ceil((Date.now() - began.getTime()) / 60_000),
      command: ['npm run bench', ...(options.args.length > 0 ? ['--', ...options.args] : [])].join(' '),
      starts: options.starts,
      rounds: options.rounds,
      seconds: options.seconds,
      rate: options.rate,
      streams: options.streams,
      machine,
      targets: mergedRecords(starts.flatMap(({ records }) => records)),
      results: merged(starts.flatMap(({ results }) => results)),
      ...(builds && { builds }),
    };
  });
}

function choose(
  { only, against, accessLog, limits, nodes }: Options,
  dir: string,
  say: (line: string) => void,
): Chosen {
  const asked = targets.filter(({ name }) => only.includes(name));
  const besides = [...(accessLog ? [gatewayWithAccessLog] : []), ...(limits ? [gatewayWithLimits] : [])];
  const others = asked.filter((target) => target === gateway || target === nodeHttp);
  const further = nodes.slice(1).flatMap((node, i) => others.map((target) => onNode(target, node, i + 2)));
  if (against === undefined) return { always: [...asked, ...further, ...besides], once: [] };
  say(`Building ${against} ...`);
  const [a, b] = [buildAgainst(against, join(dir, 'against')), buildHere()];
  const always = [
    gatewayBuiltAt(a.program, 'gateway-a', `A: ${a.title}`),
    gatewayBuiltAt(b.program, 'gateway-b', `B: ${b.title}`),
  ];
  return {
    always,
    once: [...asked.filter(({ name }) => name !== gateway.name), ...besides],
    builds: ['gateway-a', 'gateway-b'],
  };
}

/** @throws Error when one of the two builds to compare does not serve */
async function measureStart(
  environment: Environment,
  number: number,
  wanted: readonly Target[],
  options: Options,
  say: (line: string) => void,
  builds: readonly string[] = [],
): Promise<Start> {
  const started = new StartedTargets(environment, number, options.nodes[0] ?? ownNode);
  try {
    for (const target of wanted) {
      const { name, title, skipped } = await started.start(target);
      say(`${title}: ${skipped ?? 'holds what it claims'}`);
      if (skipped !== undefined && builds.includes(name)) throw new Error(`${title}: ${skipped}`);
    }
    const results: Result[] = [];
    for (const [i, one] of options.cases.entries()) {
      const missing = one.missing?.();
      if (missing === undefined) {
        const { rounds, seconds } = options;
        const warmUpSeconds = i === 0 ? coldWarmUpSeconds : Math.min(coldWarmUpSeconds, seconds);
        const plan = { effort: options, rounds, warmUpSeconds };
        results.push(...(await measureCase(one, started.targets, plan, say)));
      } else {
        say(`${one.title}: not measured; to get what it needs: ${missing}`);
      }
    }
    return { records: started.records.map((record) => withMemory(record, started, results)), results };
  } finally {
    await started.stop();
  }
}

function withMemory(record: TargetRecord, started: StartedTargets, results: readonly Result[]): TargetRecord {
  const samples = results.filter(({ target }) => target === record.name).flatMap(({ samples }) => samples);
  const memory = started.memoryOf(record.name, Math.max(0, ...samples.map(({ rssMb }) => rssMb ?? 0)));
  return memory === undefined ? record : { ...record, memory };
}

/** One record a target, with its memory at the first start, the most it ever took, and at the end of the last. */
function mergedRecords(records: readonly TargetRecord[]): TargetRecord[] {
  const byName = new Map<string, TargetRecord>();
  for (const record of records) {
    const known = byName.get(record.name);
    byName.set(record.name, { ...record, ...known, ...mergedMemory(known?.memory, record.memory) });
  }
  return [...byName.values()];
}

function mergedMemory(before: Memory | undefined, now: Memory | undefined): { readonly memory?: Memory } {
  if (before === undefined || now === undefined)
    return before || now ? { memory: (before ?? now) as Memory } : {};
  return { memory: { atStart: before.atStart, peak: Math.max(before.peak, now.peak), atEnd: now.atEnd } };
}
