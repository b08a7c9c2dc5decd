import { busyMs, usageOf } from './lib/proc.ts';
import { medians } from './report/statistics.ts';
import type { Case, Effort, Sample, StartedTarget } from './scenarios/scenario.ts';

/** All rounds of one target in one case. */
export interface Result {
  readonly case: string;
  readonly target: string;
  readonly samples: readonly Sample[];
  /** Of every figure by itself. */
  readonly median: Sample;
  /** Why there are no samples, or fewer. */
  readonly failure?: string;
}

/** How often and how long to measure. */
export interface Plan {
  readonly effort: Effort;
  readonly rounds: number;
  /** Measured before the rounds and not counted: Node compiles what is hot while it serves. */
  readonly warmUpSeconds: number;
}

/**
 * Measures all targets in turn, so that what the machine does meanwhile falls on all alike. Every second round goes
 * backwards (A B, B A, A B, …): a machine that grows slower favours none.
 *
 * @param say called before each measurement
 */
export async function measureCase(
  one: Case,
  targets: readonly StartedTarget[],
  { effort, rounds, warmUpSeconds }: Plan,
  say: (line: string) => void,
): Promise<Result[]> {
  const samples = new Map<string, Sample[]>(targets.map(({ name }) => [name, []]));
  const failures = new Map<string, string>();
  for (let round = 0; round <= rounds; round++) {
    const seconds = round === 0 ? warmUpSeconds : effort.seconds;
    for (const target of round % 2 === 0 ? targets.toReversed() : targets) {
      const { name } = target;
      if (failures.has(name)) continue;
      say(`${one.id} ${round === 0 ? 'warm-up' : `round ${round}/${rounds}`} ${name}`);
      try {
        const sample = await watched(target, () => one.measure(target, { ...effort, seconds }));
        if (round > 0) samples.get(name)?.push(sample);
      } catch (error) {
        failures.set(name, error instanceof Error ? error.message : String(error));
      }
    }
  }
  return targets.map(({ name }) => resultOf(one.id, name, samples.get(name) ?? [], failures.get(name)));
}

/** Puts together what several starts of the same targets gave. */
export function merged(results: readonly Result[]): Result[] {
  const groups = new Map<string, Result[]>();
  for (const result of results) {
    const key = `${result.case} ${result.target}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return [...groups.values()].map((group) => {
    const [first] = group as [Result, ...Result[]];
    const samples = group.flatMap((result) => result.samples);
    return resultOf(first.case, first.target, samples, group.find(({ failure }) => failure)?.failure);
  });
}

function resultOf(
  id: string,
  target: string,
  samples: readonly Sample[],
  failure: string | undefined,
): Result {
  return { case: id, target, samples, median: medians(samples), ...(failure !== undefined && { failure }) };
}

/** Adds what others did on the two cores meanwhile, per cent of one core. */
async function watched({ environment }: StartedTarget, measure: () => Promise<Sample>): Promise<Sample> {
  const foreignMs = (): number =>
    busyMs(environment.proxyCore) + busyMs(environment.otherCore) - usageOf([process.pid]).cpuMs;
  const [before, start] = [foreignMs(), performance.now()];
  const sample = await measure();
  const foreign = (100 * (foreignMs() - before)) / (performance.now() - start);
  return { ...sample, foreign: Math.max(0, foreign) };
}
