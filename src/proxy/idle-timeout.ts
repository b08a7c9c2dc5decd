import type { LimitsConfig, RouteConfig } from '../config.ts';

/** Tells whether a peer has made no progress for too long while it was its turn. It is polled, and needs no timer. */
export class IdleTimeout {
  readonly #mostMs: number;
  #progress = -1;
  #sinceMs = 0;

  /** @param mostMs how long it may make no progress; 0 for no limit */
  constructor(mostMs: number) {
    this.#mostMs = mostMs === 0 ? Infinity : mostMs;
  }

  /**
   * @param waiting it is the peer's turn
   * @param progress any number that grows with what the peer does
   * @param nowMs monotonic
   */
  expired(waiting: boolean, progress: number, nowMs: number): boolean {
    if (!waiting || progress !== this.#progress) {
      this.#progress = progress;
      this.#sinceMs = nowMs;
      return false;
    }
    return nowMs - this.#sinceMs > this.#mostMs;
  }
}

/** The progress of the two sides of an exchange. */
export interface ExchangeProgress {
  /** It is the client's turn: to send more of its body, or to take more of the response. */
  readonly waitsForClient: boolean;
  /** Grows with every byte that comes from the client or that it takes. */
  readonly clientProgress: number;
  /** The same for the upstream; `null` while it does not have the request. */
  readonly upstreamProgress: number | null;
  /** What the upstream has to send next. */
  readonly awaited: 'head' | 'body';
}

/** Tells which side of an exchange has been silent for longer than it may be. It is polled, and needs no timer. */
export class SideTimeouts {
  readonly #client: IdleTimeout;
  readonly #upstream: Readonly<Record<ExchangeProgress['awaited'], IdleTimeout>>;

  constructor({ timeouts }: Pick<RouteConfig, 'timeouts'>, { bodyIdleMs }: Pick<LimitsConfig, 'bodyIdleMs'>) {
    this.#client = new IdleTimeout(bodyIdleMs);
    this.#upstream = { head: new IdleTimeout(timeouts.headersMs), body: new IdleTimeout(timeouts.bodyMs) };
  }

  /** @param nowMs monotonic */
  silentSide(progress: ExchangeProgress, nowMs: number): 'client' | 'upstream' | null {
    const { waitsForClient, clientProgress, upstreamProgress, awaited } = progress;
    if (this.#client.expired(waitsForClient, clientProgress, nowMs)) return 'client';
    const waitsForUpstream = upstreamProgress !== null && !waitsForClient;
    return this.#upstream[awaited].expired(waitsForUpstream, upstreamProgress ?? 0, nowMs)
      ? 'upstream'
      : null;
  }
}
