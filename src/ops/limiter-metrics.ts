import type { Registry } from 'prom-client';
import type { LimiterEvents } from '../ports/limits/limiter-events.ts';
import { Histogram } from './histogram.ts';
import type { Logger } from './logger.ts';
import { counter, gauge } from './metrics.ts';

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.3, 1];

/** Shows what the limiter does, and says in the log when replicas cannot hear of each other. */
export function limiterMetrics(
  registry: Registry,
  limiter: () => { readonly degraded: boolean; readonly tracked: number; readonly quotasNearEnd: number },
  logger: Pick<Logger, 'info' | 'warn'>,
): LimiterEvents {
  gauge(
    registry,
    'limiter_degraded',
    '1 while this replica enforces limits, or some of them, by its last shares, since it cannot hear of the others.',
    () => Number(limiter().degraded),
  );
  gauge(
    registry,
    'limiter_tracked_limits',
    'Accounts and keys whose limits are in memory.',
    () => limiter().tracked,
    'sum',
  );
  gauge(
    registry,
    'limiter_quotas_near_end',
    'Quotas of the month, used here, of which a tenth or less is left. The log names each once.',
    () => limiter().quotasNearEnd,
  );
  const exchanged = counter(
    registry,
    'limiter_reports_total',
    'Reports to the other replicas of what is used of a limit.',
  );
  const failed = counter(
    registry,
    'limiter_quota_failures_total',
    'Times that use could not be added to the quotas of the month; it is kept and tried again.',
  );
  const times = new Histogram(
    registry,
    'tenancy_gateway_limiter_exchange_seconds',
    'Time replicas took to hear of each other, one exchange of many limits.',
    bounds,
  ).series({});
  return {
    onDegraded: (degraded, error) => {
      if (degraded)
        logger.warn({ err: error }, 'limits go on by the last shares: replicas cannot hear of each other');
      else logger.info({}, 'replicas hear of each other again: limits are shared as before');
    },
    onExchanged: (limits, ms) => {
      exchanged.add(limits);
      times(ms / 1000);
    },
    onMonthsFailed: () => failed.count(),
    onQuotaNearEnd: (limit, used, quota) =>
      logger.info({ limit, used, quota }, 'nine tenths of a quota of the month are used'),
  };
}
