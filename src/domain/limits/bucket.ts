/** Parameters of a token bucket. Each token lets one request through. */
export interface BucketFigures {
  /** Maximum number of tokens in the bucket: the burst. At least 1. */
  readonly capacity: number;
  /** Tokens added per second; 0 for a quota, which is never refilled. */
  readonly perSecond: number;
}

/**
 * Number of tokens in a bucket at a point in time. `atMs` is in milliseconds by the clock of the store that holds the
 * bucket.
 */
export interface BucketLevel {
  readonly tokens: number;
  readonly atMs: number;
}

/** A replica's query to a bucket. All members are numbers of tokens. */
export interface BucketQuestion {
  /** Unused tokens that the replica returns; negative if the replica let requests through without asking. */
  readonly back: number;
  /** Tokens for waiting requests, 0 or more. */
  readonly needed: number;
  /** Extra tokens for requests that the replica expects, 0 or more. */
  readonly ahead: number;
}

export interface BucketAnswer {
  readonly granted: number;
  /** Tokens left in the bucket. */
  readonly left: number;
}

/**
 * Answers a query: refills the bucket up to `nowMs`, takes back unused tokens, and grants new ones. Waiting requests
 * come first. If the bucket is still more than half full, expected requests get at most a quarter of the tokens above
 * one half. Otherwise expected requests get none. Scarce tokens are thus not spread over replicas that may not need
 * them.
 *
 * @param before level after the last answer; `undefined` if the bucket has not been used recently and is therefore full
 * @param nowMs current time by the same clock as `before.atMs`; if it is earlier than that, no tokens are added
 */
export function askBucket(
  before: BucketLevel | undefined,
  { capacity, perSecond }: BucketFigures,
  { back, needed, ahead }: BucketQuestion,
  nowMs: number,
): { readonly after: BucketLevel; readonly answer: BucketAnswer } {
  const elapsedMs = before === undefined ? 0 : Math.max(0, nowMs - before.atMs);
  const filled = (before?.tokens ?? capacity) + (elapsedMs * perSecond) / 1000;
  const tokens = Math.max(0, Math.min(capacity, filled + back));
  const spare = Math.max(0, Math.floor((tokens - needed - capacity / 2) / 4));
  const granted = Math.min(Math.floor(tokens + rounding), needed + Math.min(ahead, spare));
  const left = Math.max(0, tokens - granted);
  return { after: { tokens: left, atMs: nowMs }, answer: { granted, left } };
}

/** Tolerance for rounding errors in sums of fractions, in tokens: 9.9999999 tokens count as 10. */
export const rounding = 1e-6;

/** Returns the number of milliseconds until a bucket has a whole token; 0 if it already has one. */
export function untilTokenMs(left: number, perSecond: number): number {
  return left + rounding >= 1 ? 0 : ((1 - left) * 1000) / perSecond;
}
