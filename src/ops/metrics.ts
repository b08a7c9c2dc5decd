import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { Histogram } from './histogram.ts';
import type { RequestObserver, RequestRecord } from '../ports/request-record.ts';
import type { TurnWaits } from '../ports/turn-waits.ts';

const prefix = 'tenancy_gateway_';
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * A registry of its own: nothing global, so that a test or a second app in the process counts for itself.
 *
 * @param lookMs how often it is looked whether the event loop comes round in time; each look wakes the process up
 */
export function createRegistry(lookMs = 10): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lookMs });
  return registry;
}

/**
 * Rate, errors and duration of requests by route and class of status, rejections by code, and acting decisions by
 * reason. No label holds anything a client wrote: there are as many series as routes times statuses, at most.
 */
export function requestMetrics(registry: Registry): RequestObserver {
  const durations = new Histogram(
    registry,
    `${prefix}request_duration_seconds`,
    'Requests by route and class of status, from the first byte to the last.',
    durationBounds,
  );
  const upstreamWaits = new Histogram(
    registry,
    `${prefix}upstream_wait_seconds`,
    'Time an upstream took until its headers arrived, by route.',
    durationBounds,
  );
  const rejections = counter(
    registry,
    'refusals_total',
    'Requests the gateway refused, by code of the problem.',
    'code',
  );
  const decisions = counter(registry, 'acting_decisions_total', 'Permits by reason.', 'reason');
  const upstreamErrors = counter(
    registry,
    'upstream_errors_total',
    'Upstreams that failed.',
    'route',
    'code',
  );

  const byRoute = new Map<string, Map<number, (seconds: number) => void>>();
  const waits = new Map<string, (seconds: number) => void>();
  return (record) => {
    seriesOf(record)(record.durationMs / 1000);
    if (record.upstreamMs !== null) waitsOf(record.route)(record.upstreamMs / 1000);
    if (record.reason !== null) decisions.count(record.reason);
    if (record.code === null) return;
    rejections.count(record.code);
    if (record.code.startsWith('upstream_')) upstreamErrors.count(record.route, record.code);
  };

  function seriesOf({ route, status }: RequestRecord): (seconds: number) => void {
    const statusClass = Math.floor(status / 100);
    const byClass = byRoute.get(route) ?? new Map<number, (seconds: number) => void>();
    byRoute.set(route, byClass);
    let series = byClass.get(statusClass);
    if (series === undefined) {
      series = durations.series({ route, status: statusClass === 0 ? 'aborted' : `${statusClass}xx` });
      byClass.set(statusClass, series);
    }
    return series;
  }

  function waitsOf(route: string): (seconds: number) => void {
    let series = waits.get(route);
    if (series === undefined) waits.set(route, (series = upstreamWaits.series({ route })));
    return series;
  }
}

/**
 * How many requests wait for their turn at the connections of a route, and for how long. Costs a request that does not wait
 * nothing: it is in neither.
 *
 * @returns what is to be told of the waits, by the prefix of the route
 */
export function turnWaitMetrics(registry: Registry): (route: string) => TurnWaits {
  const times = new Histogram(
    registry,
    `${prefix}upstream_queue_seconds`,
    'Time requests waited for their turn at the connections of a route; those that did not wait are not counted.',
    durationBounds,
  );
  const byRoute = new Map<string, TurnWaits & { readonly count: () => number }>();
  const metric: Gauge = new Gauge({
    name: `${prefix}upstream_queue_requests`,
    help: 'Requests that wait for their turn at the connections of a route.',
    labelNames: ['route'],
    aggregator: 'sum',
    registers: [],
    collect: () => byRoute.forEach(({ count }, route) => metric.set({ route }, count())),
  });
  registry.registerMetric(metric);
  return (route) => {
    const present = byRoute.get(route);
    if (present !== undefined) return present;
    const observe = times.series({ route });
    let waiting = 0;
    const waits = {
      count: () => waiting,
      began: () => void (waiting += 1),
      ended: (ms: number) => {
        waiting -= 1;
        observe(ms / 1000);
      },
    };
    byRoute.set(route, waits);
    return waits;
  };
}

/** Shows which build runs. */
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
 * Adds a gauge whose value is read at each scrape.
 *
 * @param together what several workers show as one: `max`, unless another of them is the one to look at, or they add up
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

/** A counter that is cheap to count with: prom-client gets its values at each scrape. */
export function counter(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: string[]
): { count(...labels: string[]): void } {
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
  return {
    count: (...labels) => {
      const id = labels.length === 1 ? (labels[0] as string) : labels.join('\0');
      const cell = cells.get(id);
      if (cell === undefined) cells.set(id, { labels, value: 1 });
      else cell.value += 1;
    },
  };
}
