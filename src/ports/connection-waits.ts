/** Observes one route's requests as they wait for a connection. */
export interface ConnectionWaits {
  began(): void;
  /**
   * A request got a connection or timed out.
   *
   * @param ms milliseconds since it began to wait, including the time to connect
   */
  ended(ms: number): void;
}
