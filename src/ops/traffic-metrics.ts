import { Gauge, type Registry } from 'prom-client';
import { counter, gauge } from './metrics.ts';

export interface Traffic {
  /** For each listener, a function that returns the number of open connections. */
  readonly connections: Readonly<Record<string, () => number>>;
  /** Number of proxied requests and WebSockets by state. */
  readonly underWay: () => ReadonlyMap<string, number>;
  /** Bytes held in memory for clients, by kind of holder. */
  readonly held: { readonly held: Readonly<Record<string, number>> };
  readonly ready: () => boolean;
}

/** States that can last longer than one turn of the event loop. Shorter states are never seen on a scrape. */
const states = ['deciding', 'receiving', 'queued', 'sent', 'responding', 'open'] as const;

/** Exposes open connections and requests in flight. The values are read only on a scrape, at no cost to requests. */
export function trafficMetrics(registry: Registry, { connections, underWay, held, ready }: Traffic): void {
  gauge(registry, 'ready', '1 while this process can decide about requests, as /readyz says.', () =>
    Number(ready()),
  );
  labelled(registry, 'connections', 'Open connections, by listener.', 'listener', () =>
    Object.entries(connections).map(([name, count]) => [name, count()]),
  );
  const help = 'Proxied requests and WebSockets in flight, by the state they are in.';
  labelled(registry, 'requests_in_flight', help, 'state', () => {
    const counts = underWay();
    return states.map((state) => [state, counts.get(state) ?? 0]);
  });
  labelled(registry, 'held_bytes', 'Bytes that are held in memory for clients.', 'holder', () =>
    Object.entries(held.held),
  );
}

/** Returns functions that count connections that were cut because of what was held for them, or closed to make room. */
export function closingMetrics(registry: Registry) {
  const ofHeld = 'Connections cut because more than a fair share of the memory was held for their client.';
  const forRoom = 'Connections closed because there were too many, by what they were.';
  return {
    noteCut: counter(registry, 'held_cuts_total', ofHeld, 'holder').count,
    noteClosed: counter(registry, 'connections_closed_for_room_total', forRoom, 'connection').count,
  };
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
