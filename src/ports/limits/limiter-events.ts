/** Told of what the limiter does, for metrics and the log. */
export interface LimiterEvents {
  /** Replicas can no longer tell each other what they use, or can again. */
  onDegraded?(degraded: boolean, error: unknown): void;
  /** @param ms that the store took */
  onExchanged?(limits: number, ms: number): void;
  /** Totals of months could not be added to; they are kept and tried again. */
  onMonthsFailed?(error: unknown): void;
  /** Nine tenths of a quota of this month are used. Told once a month. @param limit the kind and the id, as `parent:0198…` */
  onQuotaNearEnd?(limit: string, used: number, quota: number): void;
}
