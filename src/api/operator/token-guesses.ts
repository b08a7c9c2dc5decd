import type { Clock } from '../../ports/clock.ts';
import type { Timers } from '../../ports/timers.ts';

/** Wrong tokens that a network may send at once, and how many milliseconds it takes to get one of them back. */
const allowed = 10;
const regainMs = 1_000;
/** Milliseconds that a request waits at least and at most, and between two requests that wait. */
const shortestMs = 1_000;
const longestMs = 10_000;
const spacingMs = 100;
/** Most networks in memory. The network whose last wrong token is longest ago is forgotten first. */
const mostNetworks = 10_000;

export interface TokenGuessesDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  /** Counts a wrong token. */
  readonly count: () => void;
}

interface Guesser {
  /** Monotonic time at which the network has all of its wrong tokens back, in milliseconds. */
  fullAtMs: number;
  /** Monotonic time before which no further request is checked, in milliseconds. */
  nextMs: number;
}

/**
 * Slows down networks that guess operators' tokens. A network that has sent too many wrong tokens waits before each
 * check of a token, right or wrong, so that waiting reveals nothing. No token is rejected for the guesses of others: a
 * right token from the same network waits at most ten seconds, one from another network not at all.
 */
export class TokenGuesses {
  readonly #deps: TokenGuessesDeps;
  readonly #networks = new Map<string, Guesser>();

  constructor(deps: TokenGuessesDeps) {
    this.#deps = deps;
  }

  /** Number of networks in memory. */
  get size(): number {
    return this.#networks.size;
  }

  /** Calls `check` at once, or later if the network guesses. */
  pace(network: string, check: () => void): void {
    const nowMs = this.#deps.clock.monotonicMs();
    const guesser = this.#networks.get(network);
    if (guesser === undefined || guesser.fullAtMs - nowMs <= (allowed - 1) * regainMs) return check();
    const atMs = Math.min(Math.max(nowMs + shortestMs, guesser.nextMs), nowMs + longestMs);
    guesser.nextMs = atMs + spacingMs;
    this.#deps.timers.after(atMs - nowMs, check);
  }

  /** Notes that the network sent a wrong token. */
  note(network: string): void {
    this.#deps.count();
    const nowMs = this.#deps.clock.monotonicMs();
    const { fullAtMs, nextMs } = this.#networks.get(network) ?? { fullAtMs: nowMs, nextMs: nowMs };
    const [oldest] = this.#networks.keys();
    // Deleted first, so that the map is in the order of the last wrong tokens.
    if (!this.#networks.delete(network) && this.#networks.size >= mostNetworks && oldest !== undefined)
      this.#networks.delete(oldest);
    // A network never has to wait longer than for all of its wrong tokens, however many it has sent.
    const wantedMs = Math.max(fullAtMs, nowMs) + regainMs;
    this.#networks.set(network, { fullAtMs: Math.min(wantedMs, nowMs + allowed * regainMs), nextMs });
  }
}
