import type { LimitsConfig, RouteConfig } from '../config.ts';

/**
 * Detects that a peer has made no progress for too long while the gateway was waiting for it. Callers check at
 * intervals, so no timer is needed.
 */
export class IdleTimeout {
  readonly #mostMs: number;
  #progress = -1;
  #sinceMs = 0;

  /** @param mostMs maximum number of milliseconds without progress; 0 for no limit */
  constructor(mostMs: number) {
    this.#mostMs = mostMs === 0 ? Infinity : mostMs;
  }

  /**
   * Whether the gateway has waited for the peer for too long.
   *
   * @param waiting whether the gateway is waiting for the peer now
   * @param progress any number that grows with the peer's activity
   * @param nowMs monotonic time
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

/** Milliseconds over which a rate is measured. */
const rateWindowMs = 60_000;

/**
 * Detects that a peer has made too little progress during a minute in which the gateway was waiting for it. Callers
 * check at intervals, so no timer is needed.
 */
export class LeastRate {
  readonly #least: number;
  #progress = 0;
  #sinceMs: number | null = null;

  /** @param least minimum progress per minute; 0 for no limit */
  constructor(least: number) {
    this.#least = least;
  }

  /** Whether the peer was too slow. Takes the same parameters as {@link IdleTimeout.expired}. */
  tooSlow(waiting: boolean, progress: number, nowMs: number): boolean {
    const over = this.#sinceMs === null || nowMs - this.#sinceMs >= rateWindowMs;
    if (waiting && !over) return false;
    const slow = waiting && this.#sinceMs !== null && progress - this.#progress < this.#least;
    this.#progress = progress;
    this.#sinceMs = waiting ? nowMs : null;
    return slow;
  }
}

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
  readonly #client: IdleTimeout;
  readonly #clientRate: LeastRate;
  readonly #upstream: Readonly<Record<ExchangeProgress['awaited'], IdleTimeout>>;

  constructor(
    { timeouts }: Pick<RouteConfig, 'timeouts'>,
    { bodyIdleMs, minBodyBytesPerMinute }: Pick<LimitsConfig, 'bodyIdleMs' | 'minBodyBytesPerMinute'>,
  ) {
    this.#client = new IdleTimeout(bodyIdleMs);
    this.#clientRate = new LeastRate(minBodyBytesPerMinute);
    this.#upstream = { head: new IdleTimeout(timeouts.headersMs), body: new IdleTimeout(timeouts.bodyMs) };
  }

  /** Returns the side that has been idle or slow for too long; `null` if neither has. @param nowMs monotonic time */
  silentSide(progress: ExchangeProgress, nowMs: number): 'client' | 'upstream' | null {
    const { waitsForClient, clientProgress, upstreamProgress, awaited } = progress;
    const silent = this.#client.expired(waitsForClient, clientProgress, nowMs);
    if (this.#clientRate.tooSlow(waitsForClient, clientProgress, nowMs) || silent) return 'client';
    const waitsForUpstream = upstreamProgress !== null && !waitsForClient;
    return this.#upstream[awaited].expired(waitsForUpstream, upstreamProgress ?? 0, nowMs)
      ? 'upstream'
      : null;
  }
}
