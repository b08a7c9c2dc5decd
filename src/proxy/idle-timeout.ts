import type { LimitsConfig, RouteConfig } from '../config.ts';
import { Patience } from '../http/patience.ts';

/** Progress of the two sides of an exchange. */
export interface ExchangeProgress {
  /** Whether the gateway is waiting for the client to send more of its body or to read more of the response. */
  readonly waitsForClient: boolean;
  /** Grows with every byte that the client sends or reads. */
  readonly clientProgress: number;
  /**
   * Grows with every byte sent to the upstream and, after the head of the response, with every byte received from it.
   * `null` while the upstream does not have the request.
   */
  readonly upstreamProgress: number | null;
  /** The part of the response that the upstream is due to send next. */
  readonly awaited: 'head' | 'body';
}

/**
 * Detects which side of an exchange has been idle or slow for too long. Callers check at intervals, so no timer is
 * needed.
 */
export class SideTimeouts {
  readonly #client: Patience;
  readonly #upstream: Readonly<Record<ExchangeProgress['awaited'], Patience>>;

  constructor(
    { timeouts }: Pick<RouteConfig, 'timeouts'>,
    { bodyIdleMs, minBodyBytesPerMinute }: Pick<LimitsConfig, 'bodyIdleMs' | 'minBodyBytesPerMinute'>,
  ) {
    this.#client = new Patience(bodyIdleMs, minBodyBytesPerMinute);
    this.#upstream = { head: new Patience(timeouts.headersMs), body: new Patience(timeouts.bodyMs) };
  }

  /** Returns the side that has been idle or slow for too long; `null` if neither has. @param nowMs monotonic time */
  silentSide(progress: ExchangeProgress, nowMs: number): 'client' | 'upstream' | null {
    const { waitsForClient, clientProgress, upstreamProgress, awaited } = progress;
    if (this.#client.isOver(waitsForClient, clientProgress, nowMs)) return 'client';
    const waitsForUpstream = upstreamProgress !== null && !waitsForClient;
    return this.#upstream[awaited].isOver(waitsForUpstream, upstreamProgress ?? 0, nowMs) ? 'upstream' : null;
  }
}
