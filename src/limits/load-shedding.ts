import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { FastifyInstance } from 'fastify';
import type { LimitsConfig } from '../config.ts';
import { ProblemError, type Problem } from '../domain/problem.ts';
import { FairShares } from './fair-shares.ts';

type Limits = Pick<LimitsConfig, 'maxEventLoopDelayMs' | 'maxHeapBytes' | 'maxMemoryBytes'>;

/** What the process looks like from inside, over one window. */
export interface Pressure {
  /** Milliseconds by which the event loop was late, on average; 0 where nothing was measured. */
  readonly delayMs: number;
  readonly heapBytes: number;
  /** The heap and the buffers outside it. What the system counts (RSS) stays long after both are free again. */
  readonly memoryBytes: number;
}

/** Which requests are rejected now, for those who do not go through Fastify's hooks. */
export interface Shedding {
  /** Whether all are. */
  readonly active: boolean;
  /** Set where each parent has a share; a proxied request is taken up where that has room for it. */
  readonly shares: FairShares | null;
}

const windowMs = 1_000;
const resolutionMs = 10;
/** One window says little: a single long pause (a collection, a machine that slept) fills it, and is over by then. */
const windowsInARow = 2;
/** By then shares would have brought it down, were it requests of parents that are too much: all are shed. */
const windowsOfShares = 6;

/**
 * Rejects requests with 503 while the process cannot keep up: responding to some of them in time is worth more than all of
 * them late. At first those are rejected whose parents ask for most; management calls, with which access is revoked, are
 * served. Where that does not help, or where memory is short, all are. To be called on the root, before everything that
 * works on requests.
 *
 * @param look takes the pressure since it was called last
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
    // Where all were rejected, it is not known who asked for what: what there was to share before holds.
    else if (!active && !shares.endWindow(tooMuch) && !tooMuch) shedding.shares = null;
  }, windowMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  app.addHook('onRequest', (_request, _reply, done) => {
    done(shedding.active ? new ProblemError(overloaded) : undefined);
  });
  return shedding;
}

/** What is shed: nothing, or nothing yet; requests of parents that ask for most; all. */
export type ShedLevel = 'none' | 'watched' | 'most' | 'all';

/** Says, window by window, what is to be shed. A limit of 0 is none. */
export function overload(limits: Limits): (pressure: Pressure) => ShedLevel {
  let late = 0;
  let full = 0;
  return ({ delayMs, heapBytes, memoryBytes }) => {
    late = above(delayMs, limits.maxEventLoopDelayMs) ? late + 1 : 0;
    const isFull = above(heapBytes, limits.maxHeapBytes) || above(memoryBytes, limits.maxMemoryBytes);
    full = isFull ? full + 1 : 0;
    if (full >= windowsInARow || late >= windowsInARow + windowsOfShares) return 'all';
    if (late >= windowsInARow) return 'most';
    return late > 0 || full > 0 ? 'watched' : 'none';
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

/** The problem of a request that is shed. */
export const overloaded: Problem = {
  code: 'overloaded',
  detail: 'The gateway has more to do than it can. Try again in a moment.',
  retryAfter: 2,
};
