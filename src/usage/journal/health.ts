import type { Clock } from '../../ports/clock.ts';
import type { Logger } from 'pino';

/** Milliseconds without a failure after which the journal counts as healthy. */
const calmMs = 10_000;

/**
 * Logs once when journal writes start to fail, and once when they work again. A single successful write does not count
 * as recovery, because a full disk briefly has room after each removed batch.
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

  /** Whether journal writes are failing or failed a moment ago. Some counts are then only in memory. */
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

  /** Ends the unwritable state if no write has failed for {@link calmMs}. Called at intervals. */
  look(): void {
    if (!this.#unwritable || this.#clock.monotonicMs() - this.#failedAtMs < calmMs) return;
    this.#unwritable = false;
    this.#logger.info('the usage journal is written again');
  }
}
