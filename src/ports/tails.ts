/** Requests that a tail shows. A request has to satisfy each member that is set. */
export interface TailFilter {
  /** Account of the caller, its parent, or the resolved tenant. */
  readonly accountId?: string;
  readonly keyId?: string;
  readonly code?: string;
}

/** A tail that an operator has open, on this replica or another. */
export interface OpenTail {
  readonly id: string;
  readonly filter: TailFilter;
}

/** Exchanges that are open now: proxied requests and WebSockets. */
export interface OpenCounts {
  /** Number of requests whose response has not begun. */
  readonly requests: number;
  /** Number of open WebSockets, and of responses that have begun and not ended. */
  readonly streams: number;
}

/** Lines that replicas have stored for a tail since the previous reading. */
export interface TailReading {
  /** Lines in no particular order, as they were added. */
  readonly lines: readonly string[];
  /** Replicas that collect for the tail. */
  readonly replicas: readonly TailReplica[];
}

/** What a replica that collects for a tail has told about itself. */
export interface TailReplica {
  readonly id: string;
  /** Number of requests that it has left out since it began to collect. */
  readonly dropped: number;
  readonly open: OpenCounts;
}

/** Lines that one replica has collected for a tail. */
export interface CollectedLines {
  readonly tail: string;
  readonly replica: string;
  readonly lines: readonly string[];
  /** Number of requests that the replica has left out since it began to collect for the tail. */
  readonly dropped: number;
  /** Exchanges of the replica that match the tail's account and key. */
  readonly open: OpenCounts;
}

/**
 * Carries lines from the replicas that serve requests to the one whose client has opened a tail. The lines may be lost
 * with a crash of the store. Methods throw `ProblemError` `unavailable` if the store cannot be reached.
 */
export interface TailStore {
  /**
   * Opens a tail. It ends by itself after {@link tailLifeMs}, unless it is read before.
   *
   * @param most maximum number of open tails
   * @returns `false` if there are that many already
   */
  open(tail: OpenTail, most: number): Promise<boolean>;
  /**
   * Adds lines, as many as the store takes; the others count as dropped.
   *
   * @returns how many were stored; `null` if the tail is no longer open
   */
  add(collected: CollectedLines): Promise<number | null>;
  /**
   * Takes the lines of a tail and prolongs its life.
   *
   * @param taken number of lines that the previous reading returned, whose room is free now
   * @returns `null` if the tail is no longer open
   */
  read(id: string, taken: number): Promise<TailReading | null>;
  /** Ends a tail and deletes its lines. Does nothing if it is no longer open. */
  close(id: string): Promise<void>;
}

/** Milliseconds after which a tail ends if its replica does not read it. */
export const tailLifeMs = 15_000;
