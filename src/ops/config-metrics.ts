import { Gauge, type Registry } from 'prom-client';
import type { CertificateConfig } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import { gauge } from './metrics.ts';

/**
 * Exposes how the last configuration reload went. The metrics are named like the ones that Prometheus has for its own
 * reloads. A start counts as a successful reload.
 *
 * @returns function to call after each reload
 */
export function reloadMetrics(
  registry: Registry,
  clock: Pick<Clock, 'wallMs'>,
): (successful: boolean) => void {
  let last = { successful: true, succeededMs: clock.wallMs() };
  gauge(
    registry,
    'config_last_reload_successful',
    '1 if the last reload of the configuration was used, 0 if it was rejected.',
    () => Number(last.successful),
  );
  gauge(
    registry,
    'config_last_reload_success_timestamp_seconds',
    'Time at which the configuration in use was read.',
    () => last.succeededMs / 1000,
  );
  return (successful) => {
    last = { successful, succeededMs: successful ? clock.wallMs() : last.succeededMs };
  };
}

/**
 * Exposes when the certificates in use expire. Their dates are read along with the configuration.
 *
 * @param certificates called on each scrape
 */
export function certificateMetrics(
  registry: Registry,
  certificates: () => readonly CertificateConfig[],
): void {
  const metric: Gauge = new Gauge({
    name: 'tenancy_gateway_certificate_expiration_timestamp_seconds',
    help: 'Time at which a certificate in use expires, by its use and, towards an upstream, by route.',
    labelNames: ['use', 'route'],
    aggregator: 'min',
    registers: [],
    collect: () => {
      metric.reset();
      for (const { use, route, notAfterMs } of certificates()) {
        metric.set({ use, ...(route !== null && { route }) }, notAfterMs / 1000);
      }
    },
  });
  registry.registerMetric(metric);
}
