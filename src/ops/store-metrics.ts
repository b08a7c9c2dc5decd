import type { Registry } from 'prom-client';
import type { Clock } from '../ports/clock.ts';
import type { PoolState } from '../ports/pool-state.ts';
import { Histogram } from './histogram.ts';
import { gauge } from './metrics.ts';

/** Few: there is a series for each of them and each statement. */
const bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5];

/** Shows how busy the connections to the store are. */
export function poolMetrics(registry: Registry, state: () => PoolState): void {
  const show = (name: string, help: string, read: () => number): void =>
    gauge(registry, name, help, read, 'sum');
  show('store_connections_in_use', 'Connections to the store with a statement on them.', () => state().inUse);
  show('store_connections_max', 'Connections to the store there may be.', () => state().most);
  show('store_statements_waiting', 'Statements that wait for a connection.', () => state().waiting);
}

/**
 * Shows how long the store takes, by what it is asked for: the port and its method, such as `tenants.revokeKey`. Each method is one
 * statement or short transaction; waiting for a connection counts, and those that fail do, too.
 *
 * @returns makes a port of the store one whose calls are timed
 */
export function statementTimes(
  registry: Registry,
  clock: Pick<Clock, 'monotonicMs'>,
): <Port extends object>(name: string, port: Port) => Port {
  const times = new Histogram(
    registry,
    'tenancy_gateway_store_statement_duration_seconds',
    'Time the store took, by port and method; waiting for a connection included.',
    bounds,
  );
  return (portName, port) => {
    const calls = Object.entries(port).map(([name, call]: [string, unknown]) => {
      if (typeof call !== 'function') return [name, call];
      // Made with the first call: most processes make few of them.
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
