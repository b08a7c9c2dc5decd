import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import type { LimitsConfig } from '../config.ts';
import type { Problem } from '../domain/problem.ts';
import { sendProblem } from '../http/problem-reply.ts';

/**
 * Refuses requests with 503 while the process cannot keep up: answering some of them in time is worth more than all of
 * them late. To be registered on the root, before everything that works on requests.
 */
export function shedLoad(
  app: FastifyInstance,
  limits: Pick<LimitsConfig, 'maxEventLoopDelayMs' | 'maxHeapBytes'>,
): void {
  // The plugin takes 0 for "no limit", as the configuration does.
  app.register(underPressure, {
    maxEventLoopDelay: limits.maxEventLoopDelayMs,
    maxHeapUsedBytes: limits.maxHeapBytes,
    pressureHandler: (_request, reply) => {
      sendProblem(reply, overloaded);
    },
  });
}

const overloaded: Problem = {
  code: 'overloaded',
  detail: 'The gateway has more to do than it can. Try again in a moment.',
  retryAfter: 2,
};
