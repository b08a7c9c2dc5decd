import type { Clock } from '../ports/clock.ts';

/** Receives log lines. */
export interface FailureLogger {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Fields of a log line about a failed exchange, besides the error. */
export interface FailedExchange {
  /** `null` if the code that failed serves all routes. */
  readonly route: string | null;
  /** `null` outside an exchange. */
  readonly requestId: string | null;
  readonly code: string | null;
}

/**
 * Minimum number of milliseconds between two log lines about one route. Without this minimum, an upstream that is down
 * would cause a line for every request.
 */
const quietMs = 1000;

/** Logs why exchanges failed. Clients do not get these errors, because errors name upstream hosts and ports. */
export class FailureLog {
  readonly #log: FailureLogger;
  readonly #clock: Clock;
  readonly #routes = new Map<string, { untilMs: number; suppressed: number }>();

  constructor(log: FailureLogger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  write(error: unknown, { route, requestId, code }: FailedExchange & { readonly route: string }): void {
    const nowMs = this.#clock.monotonicMs();
    const last = this.#routes.get(route);
    if (last !== undefined && nowMs < last.untilMs) {
      last.suppressed += 1;
      return;
    }
    this.#routes.set(route, { untilMs: nowMs + quietMs, suppressed: 0 });
    const suppressed = last === undefined || last.suppressed === 0 ? {} : { more_like_it: last.suppressed };
    this.#log.warn({ err: error, code, route, request_id: requestId, ...suppressed }, 'exchange failed');
  }

  /** Logs every exception in the gateway's own code, however many there are, because two may have different causes. */
  writeException(error: unknown, { route, requestId, code }: FailedExchange): void {
    const ended = requestId === null ? 'an exception ended no exchange' : 'an exception ended an exchange';
    this.#log.error({ err: error, code, route, request_id: requestId }, ended);
  }
}
