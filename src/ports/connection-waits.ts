/** Observes the requests of one route that wait for a connection. */
export interface ConnectionWaits {
  began(): void;
  /** A request got a connection or timed out. @param ms time since it began to wait, connecting included */
  ended(ms: number): void;
}
