import type { Relay } from '../proxy/route.ts';
import { StallWatch } from '../proxy/idle-timeout.ts';

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
