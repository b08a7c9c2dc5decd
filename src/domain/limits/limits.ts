import type { BucketFigures } from './bucket.ts';

/** Limits of a parent, a sub-account or an API key. Each is a positive integer, or `null` for no limit. */
export interface Limits {
  /** Maximum number of requests per second, on average and across all replicas. */
  readonly requestsPerSecond: number | null;
  /**
   * Maximum number of requests at once after an idle period: the capacity of the bucket. `null` means the same number
   * as `requestsPerSecond`.
   */
  readonly burst: number | null;
  /** Maximum number of requests per minute: the capacity of a bucket that fills in a minute. */
  readonly requestsPerMinute: number | null;
  /** Maximum number of requests per UTC day. Keys have no daily limit. */
  readonly requestsPerDay: number | null;
  /** Maximum number of requests per calendar month in UTC. Keys have no monthly limit. */
  readonly requestsPerMonth: number | null;
  /**
   * Maximum number of units per calendar month in UTC. Responses say what their requests were worth
   * (`usage.units_header`). Keys have no such limit.
   */
  readonly unitsPerMonth: number | null;
}

/** Name of each limit in bodies and in columns of the database. */
export const limitMembers = {
  requestsPerSecond: 'requests_per_second',
  burst: 'burst',
  requestsPerMinute: 'requests_per_minute',
  requestsPerDay: 'requests_per_day',
  requestsPerMonth: 'requests_per_month',
  unitsPerMonth: 'units_per_month',
} as const satisfies Record<keyof Limits, string>;

/** Limits under the names of {@link limitMembers}. */
export type LimitMembers<L> = {
  [Name in keyof L as Name extends keyof Limits ? (typeof limitMembers)[Name] : never]: L[Name];
};

/** Returns limits under the names of {@link limitMembers}, without those that are absent. */
export function limitsToMembers<L extends object>(limits: L): LimitMembers<L> {
  return renamed(limits, Object.entries(limitMembers)) as LimitMembers<L>;
}

/** Returns the limits among `members`, without those that are absent. */
export function limitsFromMembers<L extends object = Partial<Limits>>(members: LimitMembers<L>): L {
  return renamed(
    members,
    Object.entries(limitMembers).map(([name, member]) => [member, name]),
  ) as L;
}

function renamed(values: object, names: readonly (readonly [from: string, to: string])[]): object {
  const given = values as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    names.flatMap(([from, to]) => (given[from] === undefined ? [] : [[to, given[from]]])),
  );
}

export const noLimits: Limits = {
  requestsPerSecond: null,
  burst: null,
  requestsPerMinute: null,
  requestsPerDay: null,
  requestsPerMonth: null,
  unitsPerMonth: null,
};

/**
 * Owner of a limit: the caller's key, the sub-account that a request acts as, or the parent together with all its
 * sub-accounts.
 */
export type LimitKind = 'api_key' | 'sub_account' | 'parent';

/** Limit periods, shortest first. A limit per second or minute is a bucket; a limit per day or month is a quota. */
export const limitPeriods = ['second', 'minute', 'day', 'month'] as const;
export type LimitPeriod = (typeof limitPeriods)[number];

/** What a limit counts: requests, or the units that responses say their requests were worth. */
export const limitUnits = ['requests', 'units'] as const;
export type LimitUnit = (typeof limitUnits)[number];

/** Identifies one of the limits of an account or key. Only a limit per month may count units. */
export interface LimitId {
  readonly period: LimitPeriod;
  readonly unit: LimitUnit;
}

/** Parameters of one limit. A quota is a bucket that is never refilled: its `perSecond` is 0. */
export interface LimitFigures extends BucketFigures, LimitId {}

/** Returns the limits that are set, shortest period first; a limit of units comes last. */
export function limitsSet(limits: Limits): readonly LimitFigures[] {
  const { requestsPerSecond, burst, requestsPerMinute, requestsPerDay, requestsPerMonth, unitsPerMonth } =
    limits;
  const unit = 'requests';
  const set: LimitFigures[] = [];
  if (requestsPerSecond !== null)
    set.push({ period: 'second', unit, capacity: burst ?? requestsPerSecond, perSecond: requestsPerSecond });
  if (requestsPerMinute !== null)
    set.push({ period: 'minute', unit, capacity: requestsPerMinute, perSecond: requestsPerMinute / 60 });
  if (requestsPerDay !== null) set.push({ period: 'day', unit, capacity: requestsPerDay, perSecond: 0 });
  if (requestsPerMonth !== null)
    set.push({ period: 'month', unit, capacity: requestsPerMonth, perSecond: 0 });
  if (unitsPerMonth !== null)
    set.push({ period: 'month', unit: 'units', capacity: unitsPerMonth, perSecond: 0 });
  return set;
}

/** Fraction of a quota that must be used before the event `quota.near` is written. */
export const nearQuota = 0.8;

export function isQuota(period: LimitPeriod): period is 'day' | 'month' {
  return period === 'day' || period === 'month';
}

export function sameLimits(a: Limits, b: Limits): boolean {
  return (
    a.requestsPerSecond === b.requestsPerSecond &&
    a.burst === b.burst &&
    a.requestsPerMinute === b.requestsPerMinute &&
    a.requestsPerDay === b.requestsPerDay &&
    a.requestsPerMonth === b.requestsPerMonth &&
    a.unitsPerMonth === b.unitsPerMonth
  );
}

/** Name of a limit in `RateLimit`, `RateLimit-Policy` and metrics. */
export type LimitName =
  LimitKind | `${LimitKind}-${Exclude<LimitPeriod, 'second'>}` | `${LimitKind}-month-units`;

export function limitName(kind: LimitKind, { period, unit }: LimitId): LimitName {
  if (unit === 'units') return `${kind}-month-units`;
  return period === 'second' ? kind : `${kind}-${period}`;
}

/** A quota's window: its length, and the time until it ends, in milliseconds. */
export interface QuotaWindow {
  readonly lengthMs: number;
  readonly endsInMs: number;
}

/** Returns the UTC day or calendar month that contains a time. @param nowMs milliseconds since 1970 */
export function calendarWindow(period: 'day' | 'month', nowMs: number): QuotaWindow {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const [fromMs, untilMs] =
    period === 'day'
      ? [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)]
      : [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)];
  return { lengthMs: untilMs - fromMs, endsInMs: untilMs - nowMs };
}
