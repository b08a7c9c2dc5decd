import { AggregatorRegistry, type Registry } from 'prom-client';

/** Values of one metric in one process, as its registry returns them. */
export interface MetricValues {
  readonly name: string;
  readonly type: unknown;
  /** Name of the function that combines the values of several processes. */
  readonly aggregator?: string;
  readonly values: readonly unknown[];
}

/**
 * Aggregators of prom-client's default gauges. They show the worst worker, which an average would hide. Gauges of the
 * gateway name their own aggregators.
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

/** Names of the metrics of the primary process that are part of the sum over processes. */
const ofThePrimary = /^(tenancy_gateway_|process_)/;

/**
 * Sums the metrics of several processes. The last counts of a process that has ended stay in the sum, because
 * Prometheus would read a lower sum as a restart.
 */
export class SummedMetrics {
  readonly #own: Registry;
  readonly #last = new Map<number, readonly MetricValues[]>();
  #ended: readonly MetricValues[] = [];

  /** @param own registry of the process that computes the sum */
  constructor(own: Registry) {
    this.#own = own;
  }

  /** Takes the present counts of the process `id`, which replace its earlier ones. */
  counted(id: number, metrics: readonly MetricValues[]): void {
    this.#last.set(id, metrics.map(withAggregator));
  }

  /** Keeps the totals of the process `id`, which has ended. */
  async gone(id: number): Promise<void> {
    const last = this.#last.get(id)?.filter(({ type }) => isTotal(type)) ?? [];
    this.#last.delete(id);
    if (last.length === 0) return;
    this.#ended = await valuesOf(aggregate([this.#ended, last]));
  }

  /** Returns all metrics in the text format of Prometheus. */
  async text(): Promise<string> {
    const own = (await valuesOf(this.#own)).filter(({ name }) => ofThePrimary.test(name)).map(withAggregator);
    return aggregate([...this.#last.values(), this.#ended, own]).metrics();
  }
}

/** Returns the values of a registry in a form that can be sent to another process. */
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
