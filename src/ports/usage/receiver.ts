import type { UsageEvent } from '../../domain/usage-event.ts';

const notFound = 404;
/**
 * Statuses that are about the events: 404 for a customer that the receiver does not know, 409 for an event that it
 * believes to have already. 429 is not among them: the same events are sent again, after the pause that the receiver
 * asks for.
 */
const statusesAboutEvents: ReadonlySet<number> = new Set([400, notFound, 409, 413, 422]);

/** The receiver did not accept a request. */
export class PushFailed extends Error {
  override readonly name = 'PushFailed';
  /** Status of the response; `null` if there was none. */
  readonly status: number | null;
  /** Pause that the receiver asked for; 0 if it asked for none. */
  readonly retryAfterMs: number;

  constructor(message: string, status: number | null = null, retryAfterMs = 0, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the receiver rejects the events themselves, so that it may accept fewer or others. */
  get aboutEvents(): boolean {
    return this.status !== null && statusesAboutEvents.has(this.status);
  }

  /** Whether the receiver's address may be wrong instead of the events. */
  get maybeAboutAddress(): boolean {
    return this.status === notFound;
  }
}

/** Receiver of usage events. */
export interface Receiver {
  /**
   * Resolves once the receiver has accepted all events.
   * @throws PushFailed
   */
  push(events: readonly UsageEvent[], signal: AbortSignal): Promise<void>;
  /** Closes the connection. */
  close(): void;
}
