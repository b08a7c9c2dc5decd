import type { Registry } from 'prom-client';
import type { Clock } from '../ports/clock.ts';
import type { PoolState } from '../ports/pool-state.ts';
import { Histogram } from './histogram.ts';
import { gauge } from './metrics.ts';

/** Bucket bounds, in seconds. There are only a few, because every statement has a series for each bound. */
const bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5];

/** Exposes how many store connections are in use or available, and how many statements are waiting for one. */
export function poolMetrics(registry: Registry, state: () => PoolState): void {
  const show = (name: string, help: string, read: () => number): void =>
    gauge(registry, name, help, read, 'sum');
  show('store_connections_in_use', 'Connections to the store that run a statement.', () => state().inUse);
  show('store_connections_max', 'Most connections to the store.', () => state().most);
  show('store_statements_waiting', 'Statements that wait for a connection.', () => state().waiting);
}

/**
 * Exposes how long the store takes, by port and method, such as `tenants.revokeKey`. Each method is a single statement
 * or a short transaction. The time includes waiting for a connection, and failed calls count too.
 *
 * @returns function that wraps a port so that calls to it are timed
 */
export function statementTimes(
  registry: Registry,
  clock: Pick<Clock, 'monotonicMs'>,
): <Port extends object>(name: string, port: Port) => Port {
  const times = new Histogram(
    registry,
    'tenancy_gateway_store_statement_duration_seconds',
    'Time that the store took, by port and method, waiting for a connection included.',
    bounds,
  );
  return (portName, port) => {
    const calls = Object.entries(port).map(([name, call]: [string, unknown]) => {
      if (typeof call !== 'function') return [name, call];
      // The series is created on the first call, because most processes use only a few of these methods.
      let observe: ((seconds: number) => void) | undefined;
      const timed = (...given: unknown[]): unknown => {
        const beganMs = clock.monotonicMs();
        const result: unknown = Reflect.apply(call, port, given);
        if (!(result instanceof Promise)) return result;
        observe ??= times.series({ statement: `${portName}.${name}` });
        const done = (): void => observe?.((clock.monotonicMs() - beganMs) / 1000);
        result.then(done, done);
        return result;
      };
      return [name, timed];
    });
    return Object.fromEntries(calls) as typeof port;
  };
}
