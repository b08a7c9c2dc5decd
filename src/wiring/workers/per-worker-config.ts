import type { Config } from '../../config.ts';

/**
 * Makes the configuration of one worker. Gateway-wide limits are divided by the number of workers and rounded up, so
 * that each worker has at least one of everything.
 *
 * Connections to the database are not divided, because each worker is a replica, and a share might be less than a
 * replica needs.
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
      heldBytes: share(config.limits.heldBytes),
    },
    routes: config.routes.map((route) => ({
      ...route,
      connections: share(route.connections),
      websockets: route.websockets === null ? null : share(route.websockets),
    })),
  };
}
