/** Limiter events, for metrics and the log. */
export interface LimiterEvents {
  /** Called when a limit store becomes unreachable, or reachable again. */
  onDegraded?(degraded: boolean, error: unknown): void;
  /**
   * Called after a limit store has responded.
   *
   * @param questions number of limits that the store was asked about
   * @param ms milliseconds from request to response
   */
  onAnswered?(questions: number, ms: number): void;
  /** A request was rejected without an answer of the store. */
  onGuessed?(): void;
}
