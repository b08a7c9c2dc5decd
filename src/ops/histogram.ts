import type { Metric, Registry } from 'prom-client';

/** Counts for one combination of labels. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly buckets: Float64Array;
  sum: number;
  count: number;
}

/**
 * A histogram for the hot path: a series is looked up only once, and each observation adds to three numbers.
 * prom-client would hash the labels on every observation. That costs more than all other counting for a request.
 */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  /** @param bounds upper bounds of the buckets, in ascending order */
  constructor(registry: Registry, name: string, help: string, bounds: readonly number[]) {
    this.#bounds = bounds;
    const metric = { name, help, type: 'histogram', aggregator: 'sum', get: () => this.#values(name, help) };
    // `metric` has only the members that the registry uses.
    registry.registerMetric(metric as unknown as Metric);
  }

  /**
   * Returns a function that adds a value to the series with these labels. Labels never contain text from clients, so
   * there are few series.
   */
  series(labels: Readonly<Record<string, string>>): (value: number) => void {
    const id = JSON.stringify(labels);
    let found = this.#series.get(id);
    if (found === undefined) {
      found = { labels, buckets: new Float64Array(this.#bounds.length), sum: 0, count: 0 };
      this.#series.set(id, found);
    }
    const series = found;
    return (value) => this.#observe(series, value);
  }

  /** Calls `each` for every series, with the number of its values in each bucket and in all. */
  read(each: (series: Readonly<Pick<Series, 'labels' | 'buckets' | 'count'>>) => void): void {
    for (const series of this.#series.values()) each(series);
  }

  #observe(series: Series, value: number): void {
    series.sum += value;
    series.count += 1;
    for (let i = 0; i < this.#bounds.length; i++) {
      if (value <= (this.#bounds[i] as number)) {
        series.buckets[i] = (series.buckets[i] as number) + 1;
        return;
      }
    }
  }

  async #values(name: string, help: string) {
    const values: { metricName: string; labels: Record<string, string | number>; value: number }[] = [];
    for (const { labels, buckets, sum, count } of this.#series.values()) {
      let below = 0;
      for (const [i, bound] of this.#bounds.entries()) {
        below += buckets[i] as number;
        values.push({ metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below });
      }
      values.push({ metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count });
      values.push({ metricName: `${name}_sum`, labels, value: sum });
      values.push({ metricName: `${name}_count`, labels, value: count });
    }
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }
}
