import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

const prefix = 'tenancy_gateway_';

/**
 * Creates a registry. Registries are not global, so tests and other apps in the same process are counted separately.
 *
 * @param lookMs milliseconds between two measurements of the event loop delay; each measurement wakes the process
 */
export function createRegistry(lookMs = 10): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lookMs });
  return registry;
}

/** Exposes the version of the running build. */
export function buildInfo(registry: Registry, version: string): void {
  const metric = new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1.',
    labelNames: ['version'],
    aggregator: 'max',
    registers: [],
  });
  metric.set({ version }, 1);
  registry.registerMetric(metric);
}

/**
 * Adds a gauge whose value is read on each scrape.
 *
 * @param together how the values of several workers are combined
 */
export function gauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number,
  together: 'max' | 'min' | 'sum' = 'max',
): void {
  const metric: Gauge = new Gauge({
    name: prefix + name,
    help,
    aggregator: together,
    registers: [],
    collect: () => metric.set(read()),
  });
  registry.registerMetric(metric);
}

/** A counter with cheap increments: its values are handed to prom-client only on each scrape. */
export interface CheapCounter {
  readonly count: (...labels: string[]) => void;
  add(amount: number, ...labels: string[]): void;
  /** Returns the counts by the first label. */
  read(): ReadonlyMap<string, number>;
}

/** Adds a counter to a registry. */
export function counter(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: string[]
): CheapCounter {
  const cells = new Map<string, { readonly labels: readonly string[]; value: number }>();
  if (labelNames.length === 0) cells.set('', { labels: [], value: 0 });
  const metric: Counter = new Counter({
    name: prefix + name,
    help,
    labelNames,
    registers: [],
    collect: () => {
      metric.reset();
      for (const { labels, value } of cells.values()) {
        metric.inc(Object.fromEntries(labelNames.map((label, i) => [label, labels[i] ?? ''])), value);
      }
    },
  });
  registry.registerMetric(metric);
  const add = (amount: number, ...labels: string[]): void => {
    const id = labels.length === 1 ? (labels[0] as string) : labels.join('\0');
    const cell = cells.get(id);
    if (cell === undefined) cells.set(id, { labels, value: amount });
    else cell.value += amount;
  };
  const read = (): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>();
    for (const { labels, value } of cells.values()) {
      const first = labels[0] ?? '';
      counts.set(first, (counts.get(first) ?? 0) + value);
    }
    return counts;
  };
  return { add, count: (...labels) => add(1, ...labels), read };
}
