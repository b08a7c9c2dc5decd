/** Events of the limiter, for metrics and the log. */
export interface LimiterEvents {
  /** Replicas can no longer report their use to each other, or can again. */
  onDegraded?(degraded: boolean, error: unknown): void;
  /** Reports were exchanged. @param limits number of limits @param ms time that it took */
  onExchanged?(limits: number, ms: number): void;
  /** Requests could not be added to month totals; they are kept and added later. */
  onMonthsFailed?(error: unknown): void;
  /** Nine tenths of a month quota are used; called once a month. @param limit kind and id, such as `parent:0198…` */
  onQuotaNearEnd?(limit: string, used: number, quota: number): void;
}
