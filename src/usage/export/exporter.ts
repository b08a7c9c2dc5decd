import { isDeepStrictEqual } from 'node:util';
import { Backoff } from '../../coherence/backoff.ts';
import { hourMs } from '../../domain/usage.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timers } from '../../ports/timers.ts';
import type { ExportPosition } from '../../ports/usage/export.ts';
import { PushFailed } from '../../ports/usage/receiver.ts';
import { exportTurn, turnOf, type TurnParts } from './export-turn.ts';

export interface UsageExporterParts extends TurnParts {
  /** For how long a silent replica is waited for. */
  readonly lostAfterMs: number;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly timers: Timers;
  /** Is told of a round that failed; it is tried again. */
  readonly onFailed: () => void;
}

/** How often a replica looks whether there is something to export. */
const lookMs = 60_000;
const firstPauseMs = 5_000;
const longestPauseMs = 600_000;
/** Longest that the receiver may ask for. */
const longestAskedMs = 3_600_000;
/** Tries of what the receiver rejects before it is left out, where nothing else is there that it accepts: with the pauses between them about an hour. */
const triesOfRejected = 12;

/**
 * Exports usage hour by hour, one replica at a time: each account's usage of a closed hour as one event, then what came to such
 * hours late. How far it has got is noted after each batch that was accepted, so that after a crash the batches since are sent again,
 * with the same ids.
 */
export class UsageExporter {
  readonly #parts: UsageExporterParts;
  readonly #backoff = new Backoff(firstPauseMs, longestPauseMs);
  readonly #stopping = new AbortController();
  #position: ExportPosition | null = null;
  /** How often the receiver has rejected all there was to send from a position on. */
  #rejected: { readonly from: ExportPosition | null; readonly tries: number } = { from: null, tries: 0 };
  #callOff: () => void = () => undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(parts: UsageExporterParts) {
    this.#parts = parts;
  }

  /** Begins, and goes on until it is stopped. */
  start(): void {
    this.#round = this.#tryRound();
  }

  /** Resolves once nothing is sent any more; another replica may go on at once. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('this process is about to end'));
    this.#callOff();
    await this.#round;
  }

  /** For how long the oldest hour that is not exported has been over, milliseconds; 0 where there is none. */
  lagMs(): number {
    if (this.#position === null) return 0;
    return Math.max(0, this.#parts.clock.wallMs() - (this.#position.hourMs + hourMs));
  }

  async #tryRound(): Promise<void> {
    const { logger, timers, onFailed } = this.#parts;
    let pauseMs = lookMs;
    const before = this.#position;
    try {
      if (await this.#takeTurn()) this.#backoff.succeeded();
    } catch (err) {
      if (this.#stopping.signal.aborted) return;
      // It came a part of the way.
      if (this.#moved(before)) this.#backoff.succeeded();
      if (err instanceof PushFailed && err.aboutEvents) this.#noteRejected();
      pauseMs = Math.max(this.#backoff.failed(), askedFor(err));
      onFailed();
      logger.warn({ err, again_in_s: pauseMs / 1000 }, 'usage cannot be exported; it is tried again');
    }
    if (this.#stopping.signal.aborted) return;
    this.#callOff = timers.after(pauseMs, () => void (this.#round = this.#tryRound()));
  }

  #noteRejected(): void {
    this.#rejected = { from: this.#position, tries: this.#triesFrom(this.#position) + 1 };
  }

  #triesFrom(position: ExportPosition | null): number {
    return isDeepStrictEqual(position, this.#rejected.from) ? this.#rejected.tries : 0;
  }

  #moved(before: ExportPosition | null): boolean {
    return before !== null && !isDeepStrictEqual(before, this.#position);
  }

  /** @returns whether it was the turn of this replica */
  async #takeTurn(): Promise<boolean> {
    const { store, config, id, lostAfterMs } = this.#parts;
    const state = await store.begin({ ...turnOf(this.#parts), delayMs: config.delayMs, lostAfterMs });
    this.#position = state.position;
    if (!state.mine) return false;
    let keepMs = 0;
    try {
      await exportTurn(this.#parts, state, {
        signal: this.#stopping.signal,
        onPosition: (position) => (this.#position = position),
        isLastTry: this.#triesFrom(state.position) >= triesOfRejected,
      });
    } catch (err) {
      keepMs = askedFor(err);
      throw err;
    } finally {
      // What the receiver asks for holds for the other replicas, too: the turn is kept, and they find it taken.
      if (keepMs > 0 && this.#position !== null)
        await store.advance({ holder: id, leaseMs: keepMs }, this.#position);
      else await store.end(id);
    }
    return true;
  }
}

/** For how long the receiver asks to be left alone, milliseconds. */
function askedFor(error: unknown): number {
  return error instanceof PushFailed ? Math.min(error.retryAfterMs, longestAskedMs) : 0;
}
