import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { FastifyInstance } from 'fastify';
import type { LimitsConfig } from '../config.ts';
import { ProblemError, type Problem } from '../domain/problem.ts';
import { FairShares } from './shedding-order.ts';

type Limits = Pick<LimitsConfig, 'maxEventLoopDelayMs' | 'maxHeapBytes' | 'maxMemoryBytes'>;

/** Load of the process over one window. */
export interface Pressure {
  /** Average delay of the event loop in milliseconds; 0 without a measurement. */
  readonly delayMs: number;
  readonly heapBytes: number;
  /**
   * Bytes of the heap and of buffers outside the heap. RSS is not used, because it stays high long after this memory is
   * free again.
   */
  readonly memoryBytes: number;
}

/** Which requests to reject now. Code that does not run in a hook of Fastify, such as the proxy, reads this object. */
export interface Shedding {
  /** Whether all requests are rejected. */
  readonly active: boolean;
  /**
   * Shares of parents, and of networks for requests without a known caller; `null` while no shares are needed. A
   * request is admitted only if its share has room.
   */
  readonly shares: FairShares | null;
}

const windowMs = 1_000;
const resolutionMs = 10;
/**
 * Number of windows in a row in which memory must be short before all requests are rejected. One window says little,
 * because a garbage collection may free the memory.
 */
const windowsInARow = 2;
/**
 * Rejects requests with 503 while the process cannot keep up, because it is better to send some responses in time than
 * all of them late. If only CPU time is short, it first rejects requests without a known caller, then those of the
 * parents that ask for most. Management calls with a valid key pass, because they may revoke access. If memory is
 * short, it rejects all requests. Call it on the root app, before any hook that works on requests.
 *
 * @param look returns the pressure since the last call
 */
export function shedLoad(
  app: FastifyInstance,
  limits: Limits,
  look: () => Pressure = watchProcess(app),
): Shedding {
  const next = overload(limits);
  const shedding = { active: false, shares: null as FairShares | null };
  const timer = setInterval(() => {
    const level = next(look());
    const tooMuch = level !== 'none';
    const { active, shares } = shedding;
    shedding.active = level === 'all';
    if (shares === null) shedding.shares = tooMuch ? new FairShares() : null;
    // After a window that rejected all requests, the demand of each parent is unknown, so the capacity stays.
    else if (!active && !shares.endWindow(tooMuch) && !tooMuch) shedding.shares = null;
  }, windowMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  app.addHook('onRequest', (_request, _reply, done) => {
    done(shedding.active ? new ProblemError(overloaded) : undefined);
  });
  return shedding;
}

/**
 * Which requests are shed: none, those beyond the share of their parent or network, or all. Shares have no limit in
 * their first window, because one overloaded window may be a single long pause, such as a garbage collection.
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
  app.addHook('onClose', async () => void histogram.disable());
  return () => {
    const delayMs = histogram.count === 0 ? 0 : Math.max(0, histogram.mean / 1e6 - resolutionMs);
    histogram.reset();
    const { used_heap_size: heapBytes, external_memory: outsideBytes } = getHeapStatistics();
    return { delayMs, heapBytes, memoryBytes: heapBytes + outsideBytes };
  };
}

/** Problem for a request that is shed. */
export const overloaded: Problem = {
  code: 'overloaded',
  detail: 'The gateway has more to do than it can. Try again in a moment.',
  retryAfter: 2,
};
