import { AggregatorRegistry, type Registry } from 'prom-client';

/** One metric's values in one process, as returned by its registry. */
export interface MetricValues {
  readonly name: string;
  readonly type: unknown;
  /** Name of the function that combines values from several processes. */
  readonly aggregator?: string;
  readonly values: readonly unknown[];
}

/**
 * Aggregators for prom-client's default gauges. Each gauge shows the highest or the lowest value of all workers,
 * because an average would hide a single bad worker. The gateway's own gauges specify their aggregators.
 */
const together: Readonly<Record<string, string>> = {
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_stddev_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  process_open_fds: 'max',
  process_max_fds: 'min',
  process_start_time_seconds: 'min',
};

/** Names of the metrics that the primary process adds to the sum. */
const ofThePrimary = /^(tenancy_gateway_|process_)/;

/**
 * Sums the metrics of several processes. The last counts of a process that has exited stay in the sum, because
 * Prometheus would take a lower sum for a restart.
 */
export class SummedMetrics {
  readonly #own: Registry;
  readonly #last = new Map<number, readonly MetricValues[]>();
  #ended: readonly MetricValues[] = [];

  /** @param own registry of the process that computes the sum */
  constructor(own: Registry) {
    this.#own = own;
  }

  /** Stores the current counts of process `id`, replacing its earlier ones. */
  counted(id: number, metrics: readonly MetricValues[]): void {
    this.#last.set(id, metrics.map(withAggregator));
  }

  /** Keeps the totals of process `id`, which has exited. */
  async gone(id: number): Promise<void> {
    const last = this.#last.get(id)?.filter(({ type }) => isTotal(type)) ?? [];
    this.#last.delete(id);
    if (last.length === 0) return;
    this.#ended = await valuesOf(aggregate([this.#ended, last]));
  }

  /** Returns all metrics in Prometheus's text format. */
  async text(): Promise<string> {
    const own = (await valuesOf(this.#own)).filter(({ name }) => ofThePrimary.test(name)).map(withAggregator);
    return aggregate([...this.#last.values(), this.#ended, own]).metrics();
  }
}

/** Returns a registry's values in a form that can be sent to another process. */
export async function valuesOf(registry: Registry): Promise<MetricValues[]> {
  return registry.getMetricsAsJSON();
}

function isTotal(type: unknown): boolean {
  return ['counter', 'histogram', 'summary'].includes(String(type));
}

function withAggregator(metric: MetricValues): MetricValues {
  return { ...metric, aggregator: together[metric.name] ?? metric.aggregator ?? 'sum' };
}

function aggregate(all: readonly (readonly MetricValues[])[]): Registry {
  return AggregatorRegistry.aggregate(all as unknown as object[]);
}
