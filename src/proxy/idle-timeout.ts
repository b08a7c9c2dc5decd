import type { Relay } from './route.ts';

/** Tells how long a peer that something waits for has made no progress, from looks taken now and then. */
export class StallWatch {
  readonly #mostMs: number;
  #progress = -1;
  #sinceMs = 0;

  /** @param mostMs how long it may make none; 0 for ever */
  constructor(mostMs: number) {
    this.#mostMs = mostMs === 0 ? Infinity : mostMs;
  }

  /**
   * @param waiting it is the peer's turn
   * @param progress any number that grows with what the peer does
   * @param nowMs monotonic
   */
  stalled(waiting: boolean, progress: number, nowMs: number): boolean {
    if (!waiting || progress !== this.#progress) {
      this.#progress = progress;
      this.#sinceMs = nowMs;
      return false;
    }
    return nowMs - this.#sinceMs > this.#mostMs;
  }
}

/** Where an exchange stands. */
export interface Standing {
  /** It is the client's turn: to send more of its body, or to take more of the answer. */
  readonly waitsForClient: boolean;
  /** Grows with all that comes from the client, and all that it takes. */
  readonly clientProgress: number;
  /** The same for the upstream; `null` while it has not been asked. */
  readonly upstreamProgress: number | null;
  /** What the upstream has to send next. */
  readonly awaited: 'head' | 'body';
}

/** Tells which side of an exchange has been silent for longer than it may be, from looks taken now and then. */
export class Silence {
  readonly #client: StallWatch;
  readonly #upstream: Readonly<Record<Standing['awaited'], StallWatch>>;

  constructor({ route: { timeouts }, tools: { limits } }: Relay) {
    this.#client = new StallWatch(limits.bodyIdleMs);
    this.#upstream = { head: new StallWatch(timeouts.headersMs), body: new StallWatch(timeouts.bodyMs) };
  }

  /** @param nowMs monotonic */
  broken(standing: Standing, nowMs: number): 'client' | 'upstream' | null {
    const { waitsForClient, clientProgress, upstreamProgress, awaited } = standing;
    if (this.#client.stalled(waitsForClient, clientProgress, nowMs)) return 'client';
    const waitsForUpstream = upstreamProgress !== null && !waitsForClient;
    return this.#upstream[awaited].stalled(waitsForUpstream, upstreamProgress ?? 0, nowMs)
      ? 'upstream'
      : null;
  }
}
