/** Events of the limiter, for metrics and the log. */
export interface LimiterEvents {
  /** Called when a store of limits cannot be reached, or can be reached again. */
  onDegraded?(degraded: boolean, error: unknown): void;
  /**
   * Called after a store of limits has answered.
   *
   * @param questions number of limits in the question
   * @param ms milliseconds from the question to the answer
   */
  onAnswered?(questions: number, ms: number): void;
}
