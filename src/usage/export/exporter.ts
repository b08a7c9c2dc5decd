import { isDeepStrictEqual } from 'node:util';
import { Backoff } from '../../timing/backoff.ts';
import { hourMs } from '../../domain/usage.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timers } from '../../ports/timers.ts';
import type { ExportPosition } from '../../ports/usage/export.ts';
import { PushFailed } from '../../ports/usage/receiver.ts';
import { exportRun, lockOf, type RunParts } from './export-run.ts';

export interface UsageExporterParts extends RunParts {
  /** Milliseconds for which the export waits for the counts of a replica that has stopped reporting. */
  readonly lostAfterMs: number;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly timers: Timers;
  /** Called when an export round fails. The round is retried after a pause. */
  readonly onFailed: () => void;
}

/** Milliseconds between checks for usage to export. */
const lookMs = 60_000;
const firstPauseMs = 5_000;
const longestPauseMs = 600_000;
/** Maximum pause, in milliseconds, that the receiver can ask for. A longer pause is shortened to this maximum. */
const longestAskedMs = 3_600_000;
/**
 * If the receiver accepts no event at all, rejected events are left out after this many failed attempts. With the
 * pauses in between, these attempts take about an hour.
 */
const triesOfRejected = 12;

/**
 * Exports usage hour by hour, one replica at a time: one event for each account and closed hour, then corrections for
 * late counts. The export position is saved after each accepted batch. After a crash, batches after the saved position
 * are resent with the same event ids.
 */
export class UsageExporter {
  readonly #parts: UsageExporterParts;
  readonly #backoff = new Backoff(firstPauseMs, longestPauseMs);
  readonly #stopping = new AbortController();
  #position: ExportPosition | null = null;
  /** `tries` is the number of rounds in which the receiver rejected all events after the export position `from`. */
  #rejected: { readonly from: ExportPosition | null; readonly tries: number } = { from: null, tries: 0 };
  #callOff: () => void = () => undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(parts: UsageExporterParts) {
    this.#parts = parts;
  }

  /** Starts exporting until {@link stop}. */
  start(): void {
    this.#round = this.#tryRound();
  }

  /** Stops the export. Resolves once nothing is being sent, so that another replica can continue at once. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('this process is about to end'));
    this.#callOff();
    await this.#round;
  }

  /** Milliseconds since the oldest unexported hour ended; 0 if there is none. */
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
      // If the round made progress before it failed, pauses start again at their shortest.
      if (this.#moved(before)) this.#backoff.succeeded();
      if (err instanceof PushFailed && err.aboutEvents && !err.maybeAboutAddress) this.#noteRejected();
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

  /** Exports if this replica gets the export lock. @returns whether it got the lock */
  async #takeTurn(): Promise<boolean> {
    const { store, config, id, lostAfterMs } = this.#parts;
    const state = await store.begin({ ...lockOf(this.#parts), delayMs: config.delayMs, lostAfterMs });
    this.#position = state.position;
    if (!state.mine) return false;
    let keepMs = 0;
    try {
      await exportRun(this.#parts, state, {
        signal: this.#stopping.signal,
        onPosition: (position) => (this.#position = position),
        isLastTry: this.#triesFrom(state.position) >= triesOfRejected,
      });
    } catch (err) {
      keepMs = askedFor(err);
      throw err;
    } finally {
      // The lock is held for the pause that the receiver asks for, so that other replicas wait too.
      if (keepMs > 0 && this.#position !== null)
        await store.advance({ holder: id, leaseMs: keepMs }, this.#position);
      else await store.end(id);
    }
    return true;
  }
}

/** Returns the pause that the receiver asks for, in milliseconds; 0 if it asks for none. */
function askedFor(error: unknown): number {
  return error instanceof PushFailed ? Math.min(error.retryAfterMs, longestAskedMs) : 0;
}
