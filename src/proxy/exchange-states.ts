/** States of a request, from its head to the last byte of its response. */
export type ExchangeState =
  'deciding' | 'receiving' | 'ready' | 'queued' | 'sent' | 'responding' | 'open' | 'finished';

interface StateRules {
  /** States that the exchange may enter next. */
  readonly next: readonly ExchangeState[];
  /**
   * Effect of a revocation on the request.
   *
   * - `decides again`: nothing yet, because the request is decided again before it is sent.
   * - `rejects`: the client gets a 503, because the upstream may already have acted on the request.
   * - `cuts`: the connection is closed, because the response has begun.
   * - `closes`: the client gets a close frame.
   * - `over`: nothing, because the exchange has ended.
   */
  readonly onRevocation: 'decides again' | 'rejects' | 'cuts' | 'closes' | 'over';
}

/**
 * The states of an exchange.
 *
 * - `deciding`: facts are missing, or the decision is being made.
 * - `receiving`: the request is admitted, and its body is being read. Nothing has been sent to the upstream yet.
 * - `ready`: the request was admitted in this tick.
 * - `queued`: the request is waiting for a connection, or for the turn of the event loop to end. The decision is
 *   checked again in the tick that sends the request.
 * - `sent`: the request has been written to the upstream. If a reused connection ends without a response, a safe
 *   request without a body is `queued` once more.
 * - `responding`: the head of the message has been sent to the client.
 * - `open`: a WebSocket is passing frames in both directions.
 * - `finished`: the request has been counted and logged.
 */
export const exchangeStates: Readonly<Record<ExchangeState, StateRules>> = {
  deciding: { next: ['receiving', 'ready', 'queued', 'finished'], onRevocation: 'decides again' },
  receiving: { next: ['queued', 'finished'], onRevocation: 'decides again' },
  ready: { next: ['deciding', 'queued', 'finished'], onRevocation: 'decides again' },
  queued: { next: ['deciding', 'sent', 'finished'], onRevocation: 'decides again' },
  sent: { next: ['queued', 'responding', 'open', 'finished'], onRevocation: 'rejects' },
  responding: { next: ['finished'], onRevocation: 'cuts' },
  open: { next: ['finished'], onRevocation: 'closes' },
  finished: { next: [], onRevocation: 'over' },
};
