import type { Config } from '../../config.ts';

/**
 * What one worker serves by: the totals that the configuration names are divided, so that they hold for all workers
 * together. Rounded up, so that a worker never has none: of fewer than there are workers, each has one.
 *
 * Connections to the database stay as they are: each worker is a replica, and a share may be less than one needs.
 */
export function shareOf(config: Config): Config {
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
