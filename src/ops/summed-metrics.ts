import { AggregatorRegistry, type Registry } from 'prom-client';

/** What one process has counted of one metric, as its registry gives it. */
export interface MetricValues {
  readonly name: string;
  readonly type: unknown;
  /** How the values of several processes become one. */
  readonly aggregator?: string;
  readonly values: readonly unknown[];
}

/**
 * How Node's own gauges are put together where the library would not: the worst of the workers, for an average hides it.
 * Gauges of the gateway say it themselves.
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

/** Of the primary's own, what belongs into a sum over processes. */
const ofThePrimary = /^(tenancy_gateway_|process_)/;

/**
 * The metrics of several processes as those of one. Counters and histograms are summed, and a process that has ended leaves
 * what it was last seen to have counted: a sum that went back would be read as a restart by Prometheus.
 */
export class SummedMetrics {
  readonly #own: Registry;
  readonly #last = new Map<number, readonly MetricValues[]>();
  #ended: readonly MetricValues[] = [];

  /** @param own of the process that sums up */
  constructor(own: Registry) {
    this.#own = own;
  }

  /** Takes what the process `id` has counted so far, in place of what it said before. */
  counted(id: number, metrics: readonly MetricValues[]): void {
    this.#last.set(id, metrics.map(withAggregator));
  }

  /** The process `id` has ended. */
  async gone(id: number): Promise<void> {
    const last = this.#last.get(id)?.filter(({ type }) => isTotal(type)) ?? [];
    this.#last.delete(id);
    if (last.length === 0) return;
    this.#ended = await valuesOf(aggregate([this.#ended, last]));
  }

  /** Everything, in the text format of Prometheus. */
  async text(): Promise<string> {
    const own = (await valuesOf(this.#own)).filter(({ name }) => ofThePrimary.test(name)).map(withAggregator);
    return aggregate([...this.#last.values(), this.#ended, own]).metrics();
  }
}

/** What a process has counted, as it can be sent to another one. */
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
