import type { Clock } from '../../ports/clock.ts';
import type { Logger } from 'pino';

/** Milliseconds without a failure after which the journal counts as healthy. */
const calmMs = 10_000;

/**
 * Logs once when the journal cannot be written, and once when it can be again. A full disk has room for a moment after
 * each removed batch; that does not end the trouble.
 */
export class JournalHealth {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #logger: Pick<Logger, 'warn' | 'info'>;
  #unwritable = false;
  #failedAtMs = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, logger: Pick<Logger, 'warn' | 'info'>) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Whether counts are only in memory, or were a moment ago. */
  get unwritable(): boolean {
    return this.#unwritable;
  }

  failed(err: unknown): void {
    this.#failedAtMs = this.#clock.monotonicMs();
    if (!this.#unwritable)
      this.#logger.warn(
        { err },
        'the usage journal cannot be written; requests are counted in memory, where a crash loses them',
      );
    this.#unwritable = true;
  }

  /** Checks whether the trouble is over; called at intervals. */
  look(): void {
    if (!this.#unwritable || this.#clock.monotonicMs() - this.#failedAtMs < calmMs) return;
    this.#unwritable = false;
    this.#logger.info('the usage journal is written again');
  }
}
