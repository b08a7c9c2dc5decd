import type { Config } from '../../config.ts';

/**
 * Configuration of one worker. Totals are divided by the number of workers, so that they hold for all of them together.
 * Shares are rounded up, so that each worker has at least one of everything.
 *
 * Connections to the database are not divided: each worker is a replica, and a share may be less than one replica
 * needs.
 */
export function workerConfig(config: Config): Config {
  const share = (total: number): number => Math.ceil(total / config.workers);
  return {
    ...config,
    limits: {
      ...config.limits,
      maxConnections: share(config.limits.maxConnections),
      inFlightPerTenant: share(config.limits.inFlightPerTenant),
      maxMemoryBytes: share(config.limits.maxMemoryBytes),
    },
    routes: config.routes.map((route) => ({
      ...route,
      connections: share(route.connections),
      webSockets: route.webSockets === null ? null : share(route.webSockets),
    })),
  };
}
