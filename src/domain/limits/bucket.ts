/** Figures of a bucket of tokens: one token lets one request through. */
export interface BucketFigures {
  /** Most tokens that it holds: the burst. At least 1. */
  readonly capacity: number;
  /** Tokens that come back per second, greater than 0. */
  readonly perSecond: number;
}

/** Tokens in a bucket at an instant of its store's clock, milliseconds. */
export interface BucketLevel {
  readonly tokens: number;
  readonly atMs: number;
}

/** A question of a replica to a bucket. All numbers are tokens, 0 or more. */
export interface BucketQuestion {
  /** Given back unused; negative if the replica let requests through without asking. */
  readonly back: number;
  /** Needed by requests that wait. */
  readonly needed: number;
  /** Wanted beyond that, for requests that are expected. */
  readonly ahead: number;
}

export interface BucketAnswer {
  readonly granted: number;
  /** Tokens left in the bucket. */
  readonly left: number;
}

/**
 * Fills a bucket up to an instant, takes back, and gives. Waiting requests come first. Tokens for expected requests come from the
 * upper half of the bucket, a quarter of it at a time, so that what is left is not spread over replicas that may not need it.
 *
 * @param before `undefined` for a bucket that rests, which is full
 * @param nowMs by the same clock as the level; an earlier instant than the level's fills nothing
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

/** Tokens by which sums of fractions may be too small: a bucket of 10 that fills for a second has 10. */
export const rounding = 1e-6;

/** Milliseconds until a bucket has a whole token; 0 if it has one. */
export function untilTokenMs(left: number, perSecond: number): number {
  return left + rounding >= 1 ? 0 : ((1 - left) * 1000) / perSecond;
}
