import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { FastifyInstance } from 'fastify';
import type { LimitsConfig } from '../config.ts';
import { ProblemError, type Problem } from '../domain/problem.ts';
import { clientAddresses, networkOf } from '../http/trusted-proxies.ts';
import { restMeter } from '../http/turn.ts';
import { systemTimers, type Intervals } from '../ports/timers.ts';
import { FairShares } from './shedding-order.ts';

type Limits = Pick<LimitsConfig, 'maxEventLoopDelayMs' | 'maxHeapBytes' | 'maxMemoryBytes'>;

/** Load of the process over one window of measurement. */
export interface Pressure {
  /** Average delay in milliseconds, of the event loop or of connections that rest; 0 if nothing was measured. */
  readonly delayMs: number;
  readonly heapBytes: number;
  /**
   * Bytes in the heap and in buffers outside it. RSS is not used, because it stays high long after memory has been
   * freed.
   */
  readonly memoryBytes: number;
}

/**
 * Tells which requests to reject now. Code that does not run in a Fastify hook, such as the proxy, checks this object.
 */
export interface Shedding {
  /** Whether all requests are rejected. */
  readonly active: boolean;
  /**
   * Capacity shares of parents, and of networks that send requests without a known caller; `null` while no shares are
   * needed. A request is admitted only if the share of its parent or network has room.
   */
  readonly shares: FairShares | null;
}

const windowMs = 1_000;
const resolutionMs = 10;
/**
 * Number of consecutive windows in which memory use must exceed a limit before all requests are rejected. A single
 * window says little, because a garbage collection may free the memory.
 */
const windowsInARow = 2;
/**
 * Rejects requests with 503 while the process cannot keep up, because a few timely responses are better than many late
 * ones. If only CPU time is short, requests without a known caller are rejected first, then those from the parents that
 * send the most. Management calls with a valid key still pass, because they may revoke access. If memory is short, all
 * requests are rejected. Call this on the root app, before adding any hook that does work for a request.
 *
 * @param look returns the pressure since the previous call
 */
export function shedLoad(
  app: FastifyInstance,
  limits: Limits,
  look: () => Pressure = watchProcess(app),
  intervals: Intervals = systemTimers,
): Shedding {
  const next = overload(limits);
  const shedding = { active: false, shares: null as FairShares | null };
  const stop = intervals.every(windowMs, () => {
    const level = next(look());
    const tooMuch = level !== 'none';
    const { active, shares } = shedding;
    shedding.active = level === 'all';
    if (shares === null) shedding.shares = tooMuch ? new FairShares() : null;
    // While all requests are rejected, it is unknown how many each parent sends. So the shares stay as they are.
    else if (!active && !shares.endWindow(tooMuch) && !tooMuch) shedding.shares = null;
  });
  app.addHook('onClose', async () => stop());
  shedAll(app, shedding);
  return shedding;
}

/** Sheds requests to `app` while all requests are rejected. */
export function shedAll(app: FastifyInstance, shedding: Shedding): void {
  app.addHook('onRequest', (_request, _reply, done) => {
    done(shedding.active ? new ProblemError(overloaded) : undefined);
  });
}

/**
 * Requests to shed: none, those beyond their parent's or network's share, or all. Shares are unlimited in their first
 * window, because a single overloaded window may just be one long pause, such as a garbage collection.
 */
export type ShedLevel = 'none' | 'shares' | 'all';

/** Returns a function that decides after each window which requests to shed. A limit of 0 means no limit. */
export function overload(limits: Limits): (pressure: Pressure) => ShedLevel {
  let full = 0;
  return ({ delayMs, heapBytes, memoryBytes }) => {
    const isFull = above(heapBytes, limits.maxHeapBytes) || above(memoryBytes, limits.maxMemoryBytes);
    full = isFull ? full + 1 : 0;
    if (full >= windowsInARow) return 'all';
    return isFull || above(delayMs, limits.maxEventLoopDelayMs) ? 'shares' : 'none';
  };
}

function above(value: number, limit: number): boolean {
  return limit > 0 && value > limit;
}

function watchProcess(app: FastifyInstance): () => Pressure {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  const rests = restMeter();
  app.addHook('onClose', async () => {
    histogram.disable();
    rests.stop();
  });
  return () => {
    const delayMs = histogram.count === 0 ? 0 : Math.max(0, histogram.mean / 1e6 - resolutionMs);
    histogram.reset();
    const { used_heap_size: heapBytes, external_memory: outsideBytes } = getHeapStatistics();
    return { delayMs: Math.max(delayMs, rests.read()), heapBytes, memoryBytes: heapBytes + outsideBytes };
  };
}

/**
 * Counts a request without a known caller, and returns whether to shed it: while CPU time is short, each client network
 * gets a share of such requests.
 */
export function shedsStranger({ shares }: Shedding, address: string | undefined): boolean {
  return shares !== null && !shares.admitsStranger(networkOf(address));
}

/** Sheds requests to `app` as those of strangers. For routes that need no key. */
export function shedStrangers(
  app: FastifyInstance,
  shedding: Shedding,
  trustedProxies: readonly string[],
): void {
  const addressOf = clientAddresses(trustedProxies);
  app.addHook('onRequest', (request, _reply, done) => {
    done(shedsStranger(shedding, addressOf(request.raw)) ? new ProblemError(overloaded) : undefined);
  });
}

/** Problem for a request that is shed. */
export const overloaded: Problem = {
  code: 'overloaded',
  detail: 'The gateway has more to do than it can. Try again in a moment.',
  retryAfter: 2,
};
