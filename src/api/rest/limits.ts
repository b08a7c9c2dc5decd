import { Type } from 'typebox';
import { limitMembers, type LimitMembers, type Limits } from '../../domain/limits/limits.ts';
import { unlimited, type Own } from '../../domain/limits/plan.ts';
import { closed, nullableInteger } from './typebox.ts';

/** Name of a limit in a body. */
type MemberName = keyof LimitMembers<Limits>;

/**
 * Maximum values of limits. They are higher than any gateway's throughput, and every language can read them as JSON
 * numbers without loss.
 */
const most: Readonly<Record<MemberName, number>> = {
  requests_per_second: 1_000_000,
  burst: 10_000_000,
  requests_per_minute: 60_000_000,
  requests_per_day: 100_000_000_000,
  requests_per_month: 1_000_000_000_000,
  // The largest integer in a structured field, such as `RateLimit` (RFC 9651 §3.3.1).
  units_per_month: 999_999_999_999_999,
};

/** Returns one schema for each limit. */
function eachLimit<Schema>(schemaOf: (name: MemberName) => Schema): Record<MemberName, Schema> {
  const schemas = Object.values(limitMembers).map((name) => [name, schemaOf(name)]);
  return Object.fromEntries(schemas) as Record<MemberName, Schema>;
}

/** Schema of limits in a response body. Every member is present. */
export const limitsBody = closed(eachLimit(() => nullableInteger()));

const requestFields = eachLimit((name) =>
  Type.Optional(nullableInteger({ minimum: 1, maximum: most[name] })),
);

/** Limits of an account in requests. A missing member leaves its limit unchanged; `null` removes the limit. */
export const accountLimits = Type.Optional(closed(requestFields));

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
export const ownLimitsBody = closed({ ...eachLimit(() => ownInteger()), burst: nullableInteger() });

/** A parent's own limits in requests. A missing member leaves its limit unchanged; `null` removes the limit. */
export const ownLimits = Type.Optional(
  closed({
    ...eachLimit((name) => Type.Optional(ownInteger({ minimum: 1, maximum: most[name] }))),
    burst: requestFields.burst,
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
