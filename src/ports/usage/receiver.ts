import type { UsageEvent } from '../../domain/usage-event.ts';

/** 409 for an event that it knows already, or that it takes for one. */
const statusesAboutEvents: ReadonlySet<number> = new Set([400, 409, 413, 422]);

/** The receiver did not accept a request. */
export class PushFailed extends Error {
  override readonly name = 'PushFailed';
  /** Of its response; `null` where there was none. */
  readonly status: number | null;
  /** For how long it asked to be left alone; 0 where it did not. */
  readonly retryAfterMs: number;

  constructor(message: string, status: number | null = null, retryAfterMs = 0, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether it has something against the events themselves, so that fewer or others of them may be accepted. */
  get aboutEvents(): boolean {
    return this.status !== null && statusesAboutEvents.has(this.status);
  }
}

/** Where usage events go. */
export interface Receiver {
  /**
   * Resolves once it has accepted all of them.
   * @throws PushFailed
   */
  push(events: readonly UsageEvent[], signal: AbortSignal): Promise<void>;
  /** Closes its connection. */
  close(): void;
}
