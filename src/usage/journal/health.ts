import type { Clock } from '../../ports/clock.ts';
import type { Logger } from 'pino';

/** A journal that could be written for this long is in order again. */
const calmMs = 10_000;

/**
 * Whether the journal can be written, said once in the log, and once when it can be again. On a full disk there is room for
 * a moment whenever a batch is removed: that is no end of the trouble.
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

  /** Whether counts are in memory alone, or were a moment ago. */
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

  /** To be called every now and then. */
  look(): void {
    if (!this.#unwritable || this.#clock.monotonicMs() - this.#failedAtMs < calmMs) return;
    this.#unwritable = false;
    this.#logger.info('the usage journal is written again');
  }
}
