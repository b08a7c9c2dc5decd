/** Events of the limiter, for metrics and the log. */
export interface LimiterEvents {
  /** A store of limits cannot be reached, or can be again. */
  onDegraded?(degraded: boolean, error: unknown): void;
  /** Questions were answered. @param questions number of limits asked about @param ms time that it took */
  onAnswered?(questions: number, ms: number): void;
}
