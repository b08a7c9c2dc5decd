import type { OpenTail } from './tails.ts';

/**
 * Figures that a replica reports about itself, for operators; no decision depends on them. Replicas of two versions read
 * each other's figures during a rolling upgrade, so a later version may only add members.
 */
export interface ReplicaFigures {
  /** Whether the replica can decide about requests, as `/readyz` says. */
  readonly ready: boolean;
  /** Codes of the reasons why the replica is not ready. */
  readonly unready: readonly string[];
  /** Requests to the public listener a second. This figure and the next three are about the last minute. */
  readonly requestsPerSecond: number;
  /** Rejected requests by code, the most frequent first. */
  readonly refusals: readonly { readonly code: string; readonly count: number }[];
  /** Median duration of proxied requests in milliseconds; `null` if there were none. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Open WebSockets, and responses that have begun and not ended. */
  readonly openStreams: number;
  /** Open connections to the public listener. */
  readonly openConnections: number;
  /** Resident memory of the process. */
  readonly rssBytes: number;
  /** Whether the shared cache can be used; `off` if none is configured. */
  readonly redis: 'up' | 'down' | 'off';
  /** When the certificate of the public listener expires, in milliseconds since 1970; `null` without TLS. */
  readonly certificateExpiresMs: number | null;
}

/** Figures with the time of the report, by the store's clock. */
export interface ReportedFigures extends ReplicaFigures {
  readonly reportedAt: Date;
}

/**
 * Keeps the newest figures of each replica. They may be lost with a crash of the store. Methods throw `ProblemError`
 * `unavailable` if the store cannot be reached.
 */
export interface FigureStore {
  /**
   * Replaces the figures of a replica.
   *
   * @param prune whether to delete other replicas' figures that are older than a minute, and tails that have ended
   * @returns the open tails, so that replicas learn of them without a statement of their own
   */
  report(replica: string, figures: ReplicaFigures, prune: boolean): Promise<readonly OpenTail[]>;
  /** Deletes the figures of a replica that ends. */
  remove(replica: string): Promise<void>;
}
