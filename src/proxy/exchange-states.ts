/** States of a request, from its head to the last byte of its response. */
export type ExchangeState =
  'deciding' | 'receiving' | 'ready' | 'queued' | 'sent' | 'responding' | 'open' | 'finished';

interface StateRules {
  /** States that may follow. */
  readonly next: readonly ExchangeState[];
  /**
   * Effect of a revocation on the request. `decides again`: none now, since it is decided again before it is sent;
   * `rejects`: 503, since the upstream may have acted already; `cuts`: closes the connection, since the response has
   * begun; `closes`: sends a close frame; `over`: none.
   */
  readonly onRevocation: 'decides again' | 'rejects' | 'cuts' | 'closes' | 'over';
}

/**
 * The life of an exchange.
 *
 * - `deciding`: facts are missing, or the decision is being made.
 * - `receiving`: the request is admitted, and its short body is read before anything is sent to the upstream.
 * - `ready`: the request was admitted in this tick.
 * - `queued`: the request waits for a connection, or for the end of the turn of the event loop. The decision is checked
 * again in the tick that sends the request.
 * - `sent`: the request was written to the upstream. A safe request whose reused connection ended without a response is
 * `queued` once more.
 * - `responding`: the head of the upstream's response was sent to the client.
 * - `open`: a WebSocket passes frames in both directions.
 * - `finished`: the request is counted and logged.
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
