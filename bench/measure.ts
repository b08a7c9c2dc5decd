import { busyMs, usageOf } from './lib/proc.ts';
import type { Case, Effort, Sample, StartedTarget } from './scenarios/scenario.ts';

const warmUpSeconds = 3;

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

/**
 * Measures all targets in turn (A B C A B C …), so that what the machine does meanwhile falls on all alike. A short
 * measurement of each comes first and does not count.
 *
 * @param say called before each measurement
 */
export async function measureCase(
  one: Case,
  targets: readonly StartedTarget[],
  effort: Effort,
  rounds: number,
  say: (line: string) => void,
): Promise<Result[]> {
  // Node compiles what is hot while it serves.
  const warmUp = { ...effort, seconds: Math.min(warmUpSeconds, effort.seconds) };
  const samples = new Map<string, Sample[]>(targets.map(({ name }) => [name, []]));
  const failures = new Map<string, string>();
  for (let round = 0; round <= rounds; round++) {
    for (const target of targets) {
      const { name } = target;
      if (failures.has(name)) continue;
      say(`${one.id} ${round === 0 ? 'warm-up' : `round ${round}/${rounds}`} ${name}`);
      try {
        const sample = await watched(target, () => one.measure(target, round === 0 ? warmUp : effort));
        if (round > 0) samples.get(name)?.push(sample);
      } catch (error) {
        failures.set(name, error instanceof Error ? error.message : String(error));
      }
    }
  }
  return targets.map(({ name }) => {
    const failure = failures.get(name);
    const own = samples.get(name) ?? [];
    return { case: one.id, target: name, samples: own, median: medians(own), ...(failure && { failure }) };
  });
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

function medians(samples: readonly Sample[]): Sample {
  const keys = Object.keys(samples[0] ?? {});
  return Object.fromEntries(
    keys.map((key) => [key, median(samples.map((sample) => sample[key] ?? Number.NaN))]),
  );
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[middle - 1] ?? Number.NaN, sorted[middle] ?? Number.NaN];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}
