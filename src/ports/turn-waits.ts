/** Is told of the requests of one route that wait for their turn at its connections. */
export interface TurnWaits {
  began(): void;
  /** It has a connection, or has waited for too long. @param ms since it began, the making of the connection included */
  ended(ms: number): void;
}
