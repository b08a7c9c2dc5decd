import { Type, type Static } from 'typebox';
import type { Limits } from '../../domain/limits/limits.ts';
import { unlimited, type Own, type OwnLimits } from '../../domain/limits/plan.ts';
import type { KeyLimits } from '../../ports/api-keys.ts';
import { closed, nullableInteger } from './typebox.ts';

/**
 * Maximum values of limits. They are higher than any gateway's throughput, and every language can read them as JSON
 * numbers without loss.
 */
const most = {
  perSecond: 1_000_000,
  burst: 10_000_000,
  perMinute: 60_000_000,
  perDay: 100_000_000_000,
  perMonth: 1_000_000_000_000,
  // The largest integer in a structured field, such as `RateLimit` (RFC 9651 §3.3.1).
  unitsPerMonth: 999_999_999_999_999,
};

/** Schema of limits in a response body. Every member is present. */
export const limitsBody = closed({
  requests_per_second: nullableInteger(),
  burst: nullableInteger(),
  requests_per_minute: nullableInteger(),
  requests_per_day: nullableInteger(),
  requests_per_month: nullableInteger(),
  units_per_month: nullableInteger(),
});

const requestFields = {
  requests_per_second: Type.Optional(nullableInteger({ minimum: 1, maximum: most.perSecond })),
  burst: Type.Optional(nullableInteger({ minimum: 1, maximum: most.burst })),
  requests_per_minute: Type.Optional(nullableInteger({ minimum: 1, maximum: most.perMinute })),
};

/** Limits of an account in requests. A missing member leaves its limit unchanged; `null` removes the limit. */
export const accountLimits = Type.Optional(
  closed({
    ...requestFields,
    requests_per_day: Type.Optional(nullableInteger({ minimum: 1, maximum: most.perDay })),
    requests_per_month: Type.Optional(nullableInteger({ minimum: 1, maximum: most.perMonth })),
    units_per_month: Type.Optional(nullableInteger({ minimum: 1, maximum: most.unitsPerMonth })),
  }),
);

/**
 * Schema of a parent's own value of a limit: a number, `null` for that of its plan, or `"unlimited"`.
 *
 * @param options constraints of the number
 */
export function ownInteger(options: Readonly<Record<string, number>> = {}) {
  return Type.Unsafe<Own>({
    type: ['integer', 'string', 'null'],
    pattern: `^${unlimited}$`,
    ...options,
  });
}

/** Schema of a parent's own limits in a response body. Every member is present. */
export const ownLimitsBody = closed({
  requests_per_second: ownInteger(),
  burst: nullableInteger(),
  requests_per_minute: ownInteger(),
  requests_per_day: ownInteger(),
  requests_per_month: ownInteger(),
  units_per_month: ownInteger(),
});

/** A parent's own limits in requests. A missing member leaves its limit unchanged; `null` removes the limit. */
export const ownLimits = Type.Optional(
  closed({
    requests_per_second: Type.Optional(ownInteger({ minimum: 1, maximum: most.perSecond })),
    burst: requestFields.burst,
    requests_per_minute: Type.Optional(ownInteger({ minimum: 1, maximum: most.perMinute })),
    requests_per_day: Type.Optional(ownInteger({ minimum: 1, maximum: most.perDay })),
    requests_per_month: Type.Optional(ownInteger({ minimum: 1, maximum: most.perMonth })),
    units_per_month: Type.Optional(ownInteger({ minimum: 1, maximum: most.unitsPerMonth })),
  }),
);

/**
 * Limits of a key in requests. Keys have no daily or monthly limits, but `null` is accepted, so that clients can send
 * back the limits from a response.
 */
export const keyLimits = Type.Optional(
  closed({
    ...requestFields,
    requests_per_day: Type.Optional(Type.Null()),
    requests_per_month: Type.Optional(Type.Null()),
    units_per_month: Type.Optional(Type.Null()),
  }),
);

type AccountLimits = NonNullable<Static<typeof accountLimits>>;
type SentLimits<Value> = {
  readonly [Name in keyof AccountLimits]?: Name extends 'burst' ? number | null : Value;
};

/** Reads an account's limits from a request body; `"unlimited"` is only among those of a parent. */
export function accountLimitsOf(body: SentLimits<number | null>): Partial<Limits>;
export function accountLimitsOf(body: SentLimits<Own>): Partial<OwnLimits>;
export function accountLimitsOf(body: SentLimits<Own>): Partial<OwnLimits> {
  const { requests_per_second: requestsPerSecond, burst, requests_per_minute: requestsPerMinute } = body;
  const { requests_per_day: requestsPerDay, requests_per_month: requestsPerMonth } = body;
  const { units_per_month: unitsPerMonth } = body;
  return {
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    ...(burst !== undefined && { burst }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(requestsPerDay !== undefined && { requestsPerDay }),
    ...(requestsPerMonth !== undefined && { requestsPerMonth }),
    ...(unitsPerMonth !== undefined && { unitsPerMonth }),
  };
}

/** Reads a key's limits from a request body. */
export function keyLimitsOf({
  requests_per_second: requestsPerSecond,
  burst,
  requests_per_minute: requestsPerMinute,
}: Pick<AccountLimits, 'requests_per_second' | 'burst' | 'requests_per_minute'>): KeyLimits {
  return {
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    ...(burst !== undefined && { burst }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
  };
}

/** Returns the response members for limits. */
export function limitsToBody(limits: Limits): Static<typeof limitsBody>;
export function limitsToBody(limits: OwnLimits): Static<typeof ownLimitsBody>;
export function limitsToBody(limits: OwnLimits): Static<typeof ownLimitsBody> {
  return {
    requests_per_second: limits.requestsPerSecond,
    burst: limits.burst,
    requests_per_minute: limits.requestsPerMinute,
    requests_per_day: limits.requestsPerDay,
    requests_per_month: limits.requestsPerMonth,
    units_per_month: limits.unitsPerMonth,
  };
}
