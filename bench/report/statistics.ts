import type { Sample } from '../scenarios/scenario.ts';

/** The middle half of some figures: a quarter of them are below, a quarter above. */
export interface Spread {
  readonly low: number;
  readonly high: number;
}

/** One figure of two builds. */
export interface Difference {
  readonly a: number;
  readonly b: number;
  /** `b` of every `a`. */
  readonly ratio: number;
  readonly spreadA: Spread;
  readonly spreadB: Spread;
  /** Whether B is worse than A by more than the wider spread of the two. */
  readonly worse: boolean;
}

/** Compares the medians of two builds, given what each round of each measured. */
export function difference(
  a: readonly number[],
  b: readonly number[],
  better: 'lower' | 'higher',
): Difference {
  const [spreadA, spreadB] = [spread(a), spread(b)];
  const [medianA, medianB] = [quantile(a, 0.5), quantile(b, 0.5)];
  const loss = better === 'lower' ? medianB - medianA : medianA - medianB;
  const noise = Math.max(spreadA.high - spreadA.low, spreadB.high - spreadB.low);
  return { a: medianA, b: medianB, ratio: medianB / medianA, spreadA, spreadB, worse: loss > noise };
}

/** Of every figure by itself. */
export function medians(samples: readonly Sample[]): Sample {
  const keys = Object.keys(samples[0] ?? {});
  return Object.fromEntries(keys.map((key) => [key, quantile(valuesOf(samples, key), 0.5)]));
}

/** One figure of every round. */
export function valuesOf(samples: readonly Sample[], key: string): number[] {
  return samples.map((sample) => sample[key] ?? Number.NaN);
}

function spread(values: readonly number[]): Spread {
  return { low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

/** Between the two nearest values where the share falls between them; `NaN` of nothing. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN];
  return below + (above - below) * (at - Math.floor(at));
}
