import type { Registry } from 'prom-client';
import type { LimiterEvents } from '../ports/limits/limiter-events.ts';
import { Histogram } from './histogram.ts';
import type { Logger } from './logger.ts';
import { counter, gauge } from './metrics.ts';

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.3, 1];

/** Shows the state of the limiter, and logs when replicas cannot report limits to each other. */
export function limiterMetrics(
  registry: Registry,
  limiter: () => { readonly degraded: boolean; readonly tracked: number; readonly quotasNearEnd: number },
  logger: Pick<Logger, 'info' | 'warn'>,
): LimiterEvents {
  gauge(
    registry,
    'limiter_degraded',
    '1 while this replica enforces some limits by its last shares because reports of other replicas do not reach it.',
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
    'Month quotas in use on this replica with a tenth or less left. The log names each once.',
    () => limiter().quotasNearEnd,
  );
  const exchanged = counter(
    registry,
    'limiter_reports_total',
    'Reports to the other replicas about the use of a limit.',
  );
  const failed = counter(
    registry,
    'limiter_quota_failures_total',
    'Failed attempts to add requests to month quotas; they are kept and added later.',
  );
  const times = new Histogram(
    registry,
    'tenancy_gateway_limiter_exchange_seconds',
    'Time that one exchange of reports with other replicas took, for many limits at once.',
    bounds,
  ).series({});
  return {
    onDegraded: (degraded, error) => {
      if (degraded)
        logger.warn({ err: error }, 'limits use their last shares: replicas cannot report to each other');
      else logger.info({}, 'replicas report to each other again: limits use current shares');
    },
    onExchanged: (limits, ms) => {
      exchanged.add(limits);
      times(ms / 1000);
    },
    onMonthsFailed: () => failed.count(),
    onQuotaNearEnd: (limit, used, quota) =>
      logger.warn({ limit, used, quota }, 'nine tenths of a month quota are used'),
  };
}
