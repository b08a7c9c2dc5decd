import type { Problem } from '../domain/problem.ts';
import { SteadyRate } from '../limits/steady-rate.ts';
import type { Clock } from '../ports/clock.ts';

/** A route that serves requests without a key (`authentication: none`). */
export interface OpenRoute {
  /**
   * Counts a request of a client's network. Returns the problem to report if the network has used up
   * `open_per_second`; such a request is not counted.
   *
   * @param network as returned by `networkOf`
   */
  count(network: string): Problem | undefined;
}

/** @param perSecond requests per second that each network may send */
export function openRoute(perSecond: number, clock: Pick<Clock, 'monotonicMs'>): OpenRoute {
  const rate = new SteadyRate<string>(perSecond);
  return {
    count(network) {
      const nowMs = clock.monotonicMs();
      const waitMs = rate.waitMs(network, nowMs);
      if (waitMs > 0) return tooManyWithoutKey(Math.ceil(waitMs / 1000));
      rate.count(network, nowMs);
      return undefined;
    },
  };
}

function tooManyWithoutKey(retryAfter: number): Problem {
  return {
    code: 'too_many_requests',
    detail: 'This network sends too many requests to a path that needs no API key.',
    retryAfter,
    limit: 'open_route',
  };
}
