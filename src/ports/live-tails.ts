import type { OpenCounts, TailFilter } from './tails.ts';

/** Which replicas a tail speaks for, and whether it shows all of their requests. */
export interface TailState {
  /** Ids of the replicas that collect for it, in order. */
  readonly replicas: readonly string[];
  /** Whether requests were left out in the last seconds, because there were too many. */
  readonly sampled: boolean;
  /** Number of requests that were left out since the tail began. */
  readonly dropped: number;
  /** Exchanges of these replicas that match the tail's account and key, whatever its code is. */
  readonly open: OpenCounts;
}

/** An open tail, to be read until it ends. */
export interface LiveTail {
  /** State at the beginning. */
  readonly state: TailState;
  /**
   * Waits for half a second, then returns the lines that have come, the oldest first; each is JSON.
   *
   * @returns `null` if the tail has ended
   * @throws ProblemError `unavailable` if the store cannot be reached
   */
  next(): Promise<{ readonly lines: readonly string[]; readonly state: TailState } | null>;
  /** Ends the tail; further calls do nothing. Never rejects: if the store cannot be reached, the tail ends by itself. */
  close(): Promise<void>;
}

/** Opens tails of the requests of all replicas. */
export interface LiveTails {
  /** Returns `null` if as many tails as the fleet may have are open. */
  open(filter: TailFilter): Promise<LiveTail | null>;
}
