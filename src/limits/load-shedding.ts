import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { FastifyInstance } from 'fastify';
import type { LimitsConfig } from '../config.ts';
import { ProblemError, type Problem } from '../domain/problem.ts';

type Limits = Pick<LimitsConfig, 'maxEventLoopDelayMs' | 'maxHeapBytes'>;

/** What the process looks like from inside, over one window. */
export interface Pressure {
  /** Milliseconds by which the event loop was late, on average; 0 where nothing was measured. */
  readonly delayMs: number;
  readonly heapBytes: number;
}

/** Whether requests are being rejected now: for what does not go through Fastify's hooks. */
export interface Shedding {
  readonly active: boolean;
}

const windowMs = 1_000;
const resolutionMs = 10;
/** One window says little: a single long pause (a collection, a machine that slept) fills it, and is over by then. */
const windowsInARow = 2;

/**
 * Rejects requests with 503 while the process cannot keep up: responding to some of them in time is worth more than all of
 * them late. To be called on the root, before everything that works on requests.
 *
 * @param look takes the pressure since it was called last
 */
export function shedLoad(
  app: FastifyInstance,
  limits: Limits,
  look: () => Pressure = watchProcess(app),
): Shedding {
  const isTooMuch = overload(limits);
  const shedding = { active: false };
  const timer = setInterval(() => {
    shedding.active = isTooMuch(look());
  }, windowMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  app.addHook('onRequest', (_request, _reply, done) => {
    done(shedding.active ? new ProblemError(overloaded) : undefined);
  });
  return shedding;
}

/** Says, window by window, whether it has been too much for long enough. A limit of 0 is none. */
export function overload(limits: Limits): (pressure: Pressure) => boolean {
  let bad = 0;
  return ({ delayMs, heapBytes }) => {
    const late = limits.maxEventLoopDelayMs > 0 && delayMs > limits.maxEventLoopDelayMs;
    const full = limits.maxHeapBytes > 0 && heapBytes > limits.maxHeapBytes;
    bad = late || full ? bad + 1 : 0;
    return bad >= windowsInARow;
  };
}

function watchProcess(app: FastifyInstance): () => Pressure {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  app.addHook('onClose', async () => void histogram.disable());
  return () => {
    const delayMs = histogram.count === 0 ? 0 : Math.max(0, histogram.mean / 1e6 - resolutionMs);
    histogram.reset();
    return { delayMs, heapBytes: getHeapStatistics().used_heap_size };
  };
}

/** The problem of a request that is shed. */
export const overloaded: Problem = {
  code: 'overloaded',
  detail: 'The gateway has more to do than it can. Try again in a moment.',
  retryAfter: 2,
};
