import { Type, type Static } from 'typebox';
import type { Limits } from '../../domain/limits/limits.ts';
import type { KeyLimits } from '../../ports/api-keys.ts';
import { closed, nullableInteger } from './typebox.ts';

/** Greatest limits that can be set: more than a gateway can forward, and exact as JSON numbers in every language. */
const most = { perSecond: 1_000_000, burst: 10_000_000, perMonth: 1_000_000_000_000 };

/** Limits in responses, with every member. */
export const limitsBody = closed({
  requests_per_second: nullableInteger(),
  burst: nullableInteger(),
  requests_per_month: nullableInteger(),
});

const requestFields = {
  requests_per_second: Type.Optional(nullableInteger({ minimum: 1, maximum: most.perSecond })),
  burst: Type.Optional(nullableInteger({ minimum: 1, maximum: most.burst })),
};

/** Limits of an account in requests: an absent member keeps a limit, `null` removes it. */
export const accountLimits = Type.Optional(
  closed({
    ...requestFields,
    requests_per_month: Type.Optional(nullableInteger({ minimum: 1, maximum: most.perMonth })),
  }),
);

/** Limits of a key in requests. Keys have no monthly limit; `null` is accepted so that a response can be sent back. */
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

/** Reads the limits of a key. */
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
