import type { Registry } from 'prom-client';
import type { LimiterEvents } from '../ports/limits/limiter-events.ts';
import { Histogram } from './histogram.ts';
import type { Logger } from './logger.ts';
import { counter, gauge } from './metrics.ts';

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.3, 1];

/** Exposes the limiter's state, and logs when the shared limit store becomes unreachable or reachable again. */
export function limiterMetrics(
  registry: Registry,
  limiter: () => { readonly degraded: boolean; readonly tracked: number; readonly quotasNearEnd: number },
  logger: Pick<Logger, 'info' | 'warn'>,
): LimiterEvents {
  gauge(
    registry,
    'limiter_degraded',
    '1 while this replica enforces some limits by its last shares because their store cannot be reached.',
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
    'Quotas that this replica used in the last seconds, with a tenth or less left.',
    () => limiter().quotasNearEnd,
  );
  const asked = counter(
    registry,
    'limiter_questions_total',
    'Questions to the shared store about one limit each; a request with a token at hand asks none.',
  );
  const guessed = counter(
    registry,
    'limiter_guessed_rejections_total',
    'Requests rejected without an answer of the shared store (429 with `confirmed: false`).',
  );
  const times = new Histogram(
    registry,
    'tenancy_gateway_limiter_call_seconds',
    'Time that one call to the shared store of limits took, with the questions about many limits at once.',
    bounds,
  ).series({});
  return {
    onDegraded: (degraded, error) => {
      if (degraded)
        logger.warn({ err: error }, 'limits use their last shares: their store cannot be reached');
      else logger.info({}, 'the store of limits can be reached again');
    },
    onGuessed: () => guessed.count(),
    onAnswered: (questions, ms) => {
      asked.add(questions);
      times(ms / 1000);
    },
  };
}
