import { Gauge, type Registry } from 'prom-client';
import { gauge } from './metrics.ts';

export interface Traffic {
  /** Open connections, by listener. */
  readonly connections: Readonly<Record<string, () => number>>;
  /** How many proxied requests and WebSockets are in which state. */
  readonly underWay: () => ReadonlyMap<string, number>;
  readonly ready: () => boolean;
}

/** States that last. Those that are none of these are over in the tick in which they began. */
const states = ['deciding', 'receiving', 'queued', 'sent', 'responding', 'open'] as const;

/** Shows what is going on right now. All of it is read at a scrape: requests pay nothing for it. */
export function trafficMetrics(registry: Registry, { connections, underWay, ready }: Traffic): void {
  gauge(registry, 'ready', '1 while requests can be decided about, as /readyz says.', () => Number(ready()));
  labelled(registry, 'connections', 'Open connections, by listener.', 'listener', () =>
    Object.entries(connections).map(([name, count]) => [name, count()]),
  );
  const help = 'Proxied requests and WebSockets under way, by what they wait for.';
  labelled(registry, 'requests_in_flight', help, 'state', () => {
    const counts = underWay();
    return states.map((state) => [state, counts.get(state) ?? 0]);
  });
}

function labelled(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  read: () => (readonly [value: string, count: number])[],
): void {
  const metric: Gauge = new Gauge({
    name: `tenancy_gateway_${name}`,
    help,
    labelNames: [label],
    aggregator: 'sum',
    registers: [],
    collect: () => {
      for (const [value, count] of read()) metric.set({ [label]: value }, count);
    },
  });
  registry.registerMetric(metric);
}
