// class: pure
import t from 'tap';
import { Histogram } from '../../src/ops/histogram.ts';
import { counter, createRegistry, gauge } from '../../src/ops/metrics.ts';
import { SummedMetrics, valuesOf, type MetricValues } from '../../src/ops/summed-metrics.ts';

t.test(
  'counters and histograms add up, gauges show what they mean, and nothing that was counted goes back',
  async (t) => {
    const [one, two] = [worker(3, 2), worker(4, 0.5)];
    const own = createRegistry();
    counter(own, 'worker_restarts_total', 'Restarts.').count();
    const summed = new SummedMetrics(own);
    summed.counted(1, await one());
    summed.counted(2, await two());
    const before = await summed.text();
    const value = (text: string, series: string): string | undefined =>
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length + 1);
    for (const [series, expected] of [
      ['tenancy_gateway_things_total{kind="a"}', '7'],
      ['tenancy_gateway_times_count', '2'],
      ['tenancy_gateway_times_bucket{le="1"}', '1'],
      ['tenancy_gateway_times_bucket{le="+Inf"}', '2'],
      ['tenancy_gateway_least', '0.5'],
      ['tenancy_gateway_most', '2'],
      ['tenancy_gateway_all', '2.5'],
      ['tenancy_gateway_worker_restarts_total', '1'],
    ] as const)
      t.equal(value(before, series), expected, series);

    await summed.gone(1);
    summed.counted(3, await worker(1, 9)());
    const after = await summed.text();
    t.equal(
      value(after, 'tenancy_gateway_things_total{kind="a"}'),
      '8',
      'the one that has ended still counts',
    );
    t.equal(value(after, 'tenancy_gateway_times_count'), '3');
    t.equal(value(after, 'tenancy_gateway_least'), '0.5');
    t.equal(value(after, 'tenancy_gateway_most'), '9');
    t.equal(value(after, 'tenancy_gateway_all'), '9.5', 'what it held it holds no more');
  },
);

/** What a worker sends: it travels as JSON. */
function worker(count: number, level: number): () => Promise<MetricValues[]> {
  const registry = createRegistry();
  const things = counter(registry, 'things_total', 'Things.', 'kind');
  for (let i = 0; i < count; i++) things.count('a');
  new Histogram(registry, 'tenancy_gateway_times', 'Times.', [1, 5]).series({})(level);
  gauge(registry, 'least', 'Least.', () => level, 'min');
  gauge(registry, 'most', 'Most.', () => level);
  gauge(registry, 'all', 'All.', () => level, 'sum');
  return async () => JSON.parse(JSON.stringify(await valuesOf(registry))) as MetricValues[];
}
