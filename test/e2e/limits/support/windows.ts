/** What was let through in windows of time, by what a client saw. */
import { Counts } from '../../../support/limits/windows.ts';
import type { ReplicaLoad, Tenant } from './replica-load.ts';

const replicas = 3;

/** From one instant to another, on the clock of the load. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

const stepMs = 20;
/** What takes longer waited for a process that did not run, or for a connection. */
const longMs = 400;
/** Windows for which the upper bound is promised, and for which it is looked whether the limit is had. */
const windowMs = { over: 1_000, under: 10_000 };

/** How far beyond a bound it came in the worst window; negative where there was room. */
export interface Beyond {
  readonly requests: number;
  /** In requests: a request is taken from a limit at some time between sending it and its response. */
  readonly unsure: number;
}

/** How much more than `times` × (rate × w + burst), and one a replica, was let through. */
export function over(
  load: ReplicaLoad,
  tenant: Tenant,
  times: number,
  [rate, burst]: readonly [number, number],
  { fromMs, toMs }: Stretch,
): Beyond {
  const { admitted, longestMs } = countsOf(load, tenant, { fromMs, toMs });
  const unsure = (times * rate * longestMs) / 1000;
  return {
    requests:
      admitted.mostOver(times * rate, windowMs.over, fromMs, toMs) - times * burst - replicas - unsure,
    unsure,
  };
}

/** How much less than `times` × rate × w was let through. */
export function under(
  load: ReplicaLoad,
  tenant: Tenant,
  times: number,
  rate: number,
  within: Stretch,
): Beyond {
  const { admitted, longestMs } = countsOf(load, tenant, within);
  const unsure = (times * rate * longestMs) / 1000;
  return {
    requests: admitted.mostUnder(times * rate, windowMs.under, within.fromMs, within.toMs) - unsure,
    unsure,
  };
}

/** The parts of a stretch, long enough for a window, in which this process and the gateways ran without a long pause. */
export function quietParts(load: ReplicaLoad, stretch: Stretch): Stretch[] {
  const slow = load.sent.filter(({ tookMs }) => tookMs > longMs);
  const pauses = [...slow.map(({ atMs, tookMs }) => ({ fromMs: atMs, toMs: atMs + tookMs })), ...load.pauses];
  return partsBetween(pauses, windowMs.under, stretch);
}

/**
 * The parts of a stretch, long enough for a window, in which no replica can have gone by its share: no request took
 * `lateMs`, nor had one during `afterLateMs` before.
 */
export function answeredParts(
  load: ReplicaLoad,
  { lateMs, afterLateMs }: { readonly lateMs: number; readonly afterLateMs: number },
  stretch: Stretch,
): Stretch[] {
  const late = load.sent.filter(({ tookMs }) => tookMs >= lateMs);
  const pauses = late.map(({ atMs, tookMs }) => ({ fromMs: atMs, toMs: atMs + tookMs + afterLateMs }));
  return partsBetween(pauses, windowMs.over, stretch);
}

function partsBetween(pauses: readonly Stretch[], leastMs: number, { fromMs, toMs }: Stretch): Stretch[] {
  const within = [...pauses, { fromMs: toMs, toMs }]
    .filter((pause) => pause.toMs >= fromMs && pause.fromMs <= toMs)
    .sort((a, b) => a.fromMs - b.fromMs);
  const parts: Stretch[] = [];
  let begin = fromMs;
  for (const pause of within) {
    if (pause.fromMs - begin >= leastMs) parts.push({ fromMs: begin, toMs: pause.fromMs });
    begin = Math.max(begin, pause.toMs);
  }
  return parts;
}

/** Of the requests that a limit was asked about, in steps of `everyMs`: those that were let through, and how many there were. */
export function decided(load: ReplicaLoad, tenant: Tenant, everyMs: number, { fromMs, toMs }: Stretch) {
  const steps = Array.from({ length: Math.floor((toMs - fromMs) / everyMs) }, (_, i) => ({
    ...{ fromMs: fromMs + i * everyMs, admitted: 0, all: 0 },
  }));
  for (const { tenant: of, atMs, status } of load.sent) {
    const step = steps[Math.floor((atMs - fromMs) / everyMs)];
    if (of !== tenant || step === undefined || (status !== 200 && status !== 429)) continue;
    step.all += 1;
    if (status === 200) step.admitted += 1;
  }
  return steps;
}

function countsOf(load: ReplicaLoad, tenant: Tenant, { fromMs, toMs }: Stretch) {
  const steps = new Array<number>(Math.ceil(toMs / stepMs) + 1).fill(0);
  let longestMs = 0;
  for (const { tenant: of, atMs, tookMs, status } of load.sent) {
    if (of !== tenant || status !== 200 || atMs < fromMs || atMs > toMs) continue;
    longestMs = Math.max(longestMs, tookMs);
    const step = Math.floor(atMs / stepMs);
    steps[step] = (steps[step] ?? 0) + 1;
  }
  const admitted = new Counts(stepMs);
  for (const count of steps) admitted.add(count);
  return { admitted, longestMs };
}
