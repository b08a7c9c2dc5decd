import type { Running, TargetEnvironment } from '../targets/target.ts';
import { usageOf } from '../lib/proc.ts';
import type { Upstream } from '../upstream/upstream.ts';

/** Figures of one measurement, by name. `rssMb` is always among them. */
export type Sample = Readonly<Record<string, number>>;

/** A target that serves and has shown that it enforces what it claims. */
export interface StartedTarget {
  readonly name: string;
  readonly environment: TargetEnvironment;
  readonly running: Running;
  readonly upstream: Upstream;
}

/** How long and how hard. */
export interface Effort {
  readonly seconds: number;
  /** Requests a second where the rate is constant: below what the slowest target can do. */
  readonly rate: number;
  readonly streams: number;
}

/** One thing to measure, on every target in turn. */
export interface Case {
  /** Stable name for the JSON file, such as `bodies/get-10k`. */
  readonly id: string;
  readonly title: string;
  /** What the measurement returns, in the order it is shown; the first is what targets are compared by. */
  readonly columns: readonly Column[];
  /** How to get what it needs, or `undefined`. */
  missing?(): string | undefined;
  measure(target: StartedTarget, effort: Effort): Promise<Sample>;
}

/** One figure of a {@link Sample}. */
export interface Column {
  readonly key: string;
  readonly title: string;
  readonly digits: number;
  /** Which is better, for the comparison of two builds; a column without it is only shown. */
  readonly better?: 'lower' | 'higher';
}

/** Columns several cases have. */
export const column = {
  cpuUs: { key: 'cpuUs', title: 'CPU µs/request', digits: 1, better: 'lower' },
  storeUs: { key: 'storeUs', title: 'store µs/request', digits: 1 },
  perSecond: { key: 'perSecond', title: 'requests/s', digits: 0, better: 'higher' },
  rssMb: { key: 'rssMb', title: 'RSS MB', digits: 0, better: 'lower' },
  errors: { key: 'errors', title: 'errors', digits: 0, better: 'lower' },
} as const satisfies Record<string, Column>;

/** Runs a load and adds what it cost the proxy and its stores, per unit of work. */
export async function metered<Result>(
  { running }: StartedTarget,
  load: () => Promise<Result>,
  unitsOf: (result: Result) => number,
): Promise<{ readonly result: Result; readonly cost: Sample }> {
  const before = [usageOf(running.proxyPids), usageOf(running.storePids)] as const;
  const result = await load();
  const after = [usageOf(running.proxyPids), usageOf(running.storePids)] as const;
  const units = Math.max(1, unitsOf(result));
  return {
    result,
    cost: {
      cpuUs: ((after[0].cpuMs - before[0].cpuMs) * 1_000) / units,
      storeUs: ((after[1].cpuMs - before[1].cpuMs) * 1_000) / units,
      rssMb: after[0].rssBytes / 1_048_576,
    },
  };
}
