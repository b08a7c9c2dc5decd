import { Type, type Static } from 'typebox';
import type { Limits } from '../../domain/limits/limits.ts';
import type { KeyLimits } from '../../ports/api-keys.ts';
import { closed, nullableInteger } from './typebox.ts';

/** The greatest limits that may be set: beyond what a gateway can pass on, and exact in every program that reads JSON. */
const most = { perSecond: 1_000_000, burst: 10_000_000, perMonth: 1_000_000_000_000 };

/** Limits in responses, always all of them. */
export const limitsBody = closed({
  requests_per_second: nullableInteger(),
  burst: nullableInteger(),
  requests_per_month: nullableInteger(),
});

const requestFields = {
  requests_per_second: Type.Optional(nullableInteger({ minimum: 1, maximum: most.perSecond })),
  burst: Type.Optional(nullableInteger({ minimum: 1, maximum: most.burst })),
};

/** Limits of an account in requests: what is absent stays, `null` takes a limit away. */
export const accountLimits = Type.Optional(
  closed({
    ...requestFields,
    requests_per_month: Type.Optional(nullableInteger({ minimum: 1, maximum: most.perMonth })),
  }),
);

/** Those of a key. What was read may be sent back, so the month that it does not have may be `null`. */
export const keyLimits = Type.Optional(
  closed({
    ...requestFields,
    requests_per_month: Type.Optional(Type.Null()),
  }),
);

/** Reads the limits of an account. */
export function accountLimitsOf(body: NonNullable<Static<typeof accountLimits>>): Partial<Limits> {
  const { requests_per_month: requestsPerMonth } = body;
  return { ...keyLimitsOf(body), ...(requestsPerMonth !== undefined && { requestsPerMonth }) };
}

/** Reads those of a key. */
export function keyLimitsOf({
  requests_per_second: requestsPerSecond,
  burst,
}: Pick<NonNullable<Static<typeof accountLimits>>, 'requests_per_second' | 'burst'>): KeyLimits {
  return {
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    ...(burst !== undefined && { burst }),
  };
}

/** Writes limits. */
export function limitsToBody({
  requestsPerSecond,
  burst,
  requestsPerMonth,
}: Limits): Static<typeof limitsBody> {
  return { requests_per_second: requestsPerSecond, burst, requests_per_month: requestsPerMonth };
}
