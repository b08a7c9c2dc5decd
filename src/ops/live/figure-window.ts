import type { ReplicaFigures } from '../../ports/replica-figures.ts';
import { durationBoundsMs, type TrafficReading } from '../request-metrics.ts';

/** Number of readings that are kept: a minute of them, and the one before. */
const mostReadings = 13;
/** Maximum number of codes among the refusals. */
const mostCodes = 20;
/** Minimum time that a rate is about, so that the first requests of a process do not count as a flood. */
const leastMs = 1_000;

/** A reading, and when it was made. */
interface Timed {
  readonly atMs: number;
  readonly reading: TrafficReading;
}

/** Computes the figures of the last minute from readings of counts that never decrease. */
export class FigureWindow {
  readonly #readings: Timed[];

  /** @param nowMs monotonic time */
  constructor(first: TrafficReading, nowMs: number) {
    this.#readings = [{ atMs: nowMs, reading: first }];
  }

  /** Adds a reading, and returns the figures between the oldest reading that is kept and this one. */
  next(
    reading: TrafficReading,
    nowMs: number,
  ): Pick<ReplicaFigures, 'requestsPerSecond' | 'refusals' | 'p50Ms' | 'p99Ms'> {
    this.#readings.push({ atMs: nowMs, reading });
    if (this.#readings.length > mostReadings) this.#readings.shift();
    const { atMs, reading: first } = this.#readings[0] as Timed;
    const seconds = Math.max(leastMs, nowMs - atMs) / 1_000;
    const durations = reading.durations.map((count, i) => count - (first.durations[i] ?? 0));
    return {
      requestsPerSecond: rounded((reading.requests - first.requests) / seconds),
      refusals: refusalsOf(first.refusals, reading.refusals),
      p50Ms: quantile(0.5, durations),
      p99Ms: quantile(0.99, durations),
    };
  }
}

function refusalsOf(
  before: TrafficReading['refusals'],
  after: TrafficReading['refusals'],
): ReplicaFigures['refusals'] {
  return [...after]
    .map(([code, count]) => ({ code, count: count - (before.get(code) ?? 0) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
    .slice(0, mostCodes);
}

/**
 * Estimates a quantile from the counts of the buckets, as Prometheus does: values are spread evenly within a bucket, and
 * those above the last bound count as that bound. Returns `null` if there are no values.
 */
function quantile(share: number, counts: readonly number[]): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [i, upper] of durationBoundsMs.entries()) {
    const count = counts[i] ?? 0;
    if (count > 0 && below + count >= rank) {
      const lower = durationBoundsMs[i - 1] ?? 0;
      return rounded(lower + ((upper - lower) * (rank - below)) / count);
    }
    below += count;
  }
  return durationBoundsMs.at(-1) ?? null;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
