import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../domain/problem.ts';
import { SteadyRate } from '../limits/steady-rate.ts';
import type { ChangeCaller, RequestOrigin } from '../ports/changes.ts';
import type { Clock } from '../ports/clock.ts';
import type { ManagementDeps } from './deps.ts';

/** Returns what the changes of one parent may leave in a day. */
export function budgetOf({
  events,
  limits,
}: Pick<ManagementDeps['config'], 'events' | 'limits'>): NonNullable<RequestOrigin['budget']> {
  return { bytes: events.bytesPerDay, api_keys: limits.keysPerAccount };
}

/** `takesAway` of a route that does nothing else. */
export const takesAway = (): boolean => true;

type Limits = ManagementDeps['config']['limits'];
type RateName = 'reads' | 'changes' | 'confirmed' | 'takenAway';

/**
 * Limits how often a parent may call. Changes that only take rights away have a rate for each key and portal session
 * instead, so that the holder of a leaked key cannot keep its revocation waiting.
 */
export class CallRates {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #rates: Readonly<Record<RateName, SteadyRate<string>>>;

  constructor({ changesPerSecond, readsPerSecond }: Limits, clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#rates = {
      reads: new SteadyRate(readsPerSecond),
      changes: new SteadyRate(5 * changesPerSecond),
      confirmed: new SteadyRate(changesPerSecond),
      takenAway: new SteadyRate(changesPerSecond),
    };
  }

  /** Returns the error for a call beyond a rate. Counts a read; changes are counted later. */
  admit(request: FastifyRequest, caller: ChangeCaller): ProblemError | undefined {
    const [name, ...more] = ratesOf(request);
    for (const each of [name, ...more]) {
      const waitMs = this.#rates[each].waitMs(callerIn(each, caller), this.#clock.monotonicMs());
      if (waitMs > 0) return tooMany(each, this.#rates[each].perSecond, waitMs);
    }
    if (name === 'reads') this.#count(name, caller);
    return undefined;
  }

  /** Counts a change that is about to be made. */
  countChange(request: FastifyRequest, caller: ChangeCaller): void {
    const [name] = ratesOf(request);
    if (name !== 'reads') this.#count(name, caller);
  }

  /** Counts a change that every replica must confirm. */
  countConfirmed(request: FastifyRequest, caller: ChangeCaller): void {
    if (ratesOf(request)[0] === 'changes') this.#count('confirmed', caller);
  }

  #count(name: RateName, caller: ChangeCaller): void {
    this.#rates[name].count(callerIn(name, caller), this.#clock.monotonicMs());
  }
}

/** Returns the rates that a call has to keep to. The first one counts every such call. */
function ratesOf({ method, routeOptions, body }: FastifyRequest): [RateName, ...RateName[]] {
  if (method === 'GET' || method === 'HEAD') return ['reads'];
  return routeOptions.config.takesAway?.(body) === true ? ['takenAway'] : ['changes', 'confirmed'];
}

function callerIn(name: RateName, { accountId, keyId, portalSession }: ChangeCaller): string {
  return name === 'takenAway' ? (portalSession ?? keyId) : accountId;
}

const texts: Readonly<Record<RateName, string>> = {
  reads: 'management reads: limits.reads_per_second',
  changes: 'changes: five times limits.changes_per_second',
  confirmed: 'changes that every replica must confirm: limits.changes_per_second',
  takenAway: 'changes that take rights away with one key: limits.changes_per_second',
};

function tooMany(name: RateName, perSecond: number, waitMs: number): ProblemError {
  return new ProblemError({
    code: 'too_many_requests',
    detail: `This account reached its limit of ${texts[name]} is ${perSecond}. Nothing was changed: send this request again after Retry-After.`,
    retryAfter: Math.ceil(waitMs / 1000),
    limit: name === 'reads' ? name : 'changes',
  });
}
