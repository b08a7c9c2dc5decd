import type { UsageEvent } from '../../domain/usage-event.ts';

const notFound = 404;
/**
 * Statuses with which a receiver rejects the events themselves, such as 404 for an unknown customer, or 409 for what
 * the receiver takes to be a repeated event. 429 is not in the list, because the gateway resends the same events after
 * the pause that the receiver asks for.
 */
const statusesAboutEvents: ReadonlySet<number> = new Set([400, notFound, 409, 413, 422]);

/** The receiver did not accept a request, or could not be reached. */
export class PushFailed extends Error {
  override readonly name = 'PushFailed';
  /** Status of the response; `null` if there was no response. */
  readonly status: number | null;
  /** Pause that the receiver asked for, in milliseconds; 0 if it asked for none. */
  readonly retryAfterMs: number;

  constructor(message: string, status: number | null = null, retryAfterMs = 0, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /**
   * Whether the receiver rejected the events themselves. The receiver may still accept other events, or fewer at a
   * time.
   */
  get aboutEvents(): boolean {
    return this.status !== null && statusesAboutEvents.has(this.status);
  }

  /** Whether the cause may be a wrong receiver address rather than the events. */
  get maybeAboutAddress(): boolean {
    return this.status === notFound;
  }
}

/** Receiver of usage events, such as a billing system. */
export interface Receiver {
  /**
   * Sends events. Resolves once the receiver has accepted all of them.
   * @throws PushFailed
   */
  push(events: readonly UsageEvent[], signal: AbortSignal): Promise<void>;
  /** Closes the connection. */
  close(): void;
}
