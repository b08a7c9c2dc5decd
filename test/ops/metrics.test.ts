// class: pure
import t from 'tap';
import { coherenceMetrics } from '../../src/ops/coherence-metrics.ts';
import { Registry } from 'prom-client';
import { counter, createRegistry, gauge } from '../../src/ops/metrics.ts';
import { operatorRequestMetrics, requestMetrics } from '../../src/ops/request-metrics.ts';
import { requestRecord } from '../support/request-record.ts';

const record = requestRecord({
  route: '/v1',
  durationMs: 3,
  upstreamMs: null,
  bytesIn: null,
  bytesOut: null,
});

t.test('requests are counted by route and class of status, in cumulative buckets', async (t) => {
  const registry = new Registry();
  const { observe } = requestMetrics(registry);
  observe(record);
  observe({ ...record, durationMs: 700, upstreamMs: 600, reason: 'self' });
  observe({ ...record, status: 503, durationMs: 100_000, code: 'upstream_unreachable' });
  const text = await registry.metrics();
  const series = (name: string, labels: string): string | undefined =>
    new RegExp(`^tenancy_gateway_${name}\\{${labels}\\} (.*)$`, 'm').exec(text)?.[1];
  t.equal(series('request_duration_seconds_count', 'route="/v1",status="2xx"'), '2');
  t.equal(series('request_duration_seconds_bucket', 'route="/v1",status="2xx",le="0.0025"'), '0');
  t.equal(series('request_duration_seconds_bucket', 'route="/v1",status="2xx",le="0.005"'), '1');
  t.equal(series('request_duration_seconds_bucket', 'route="/v1",status="2xx",le="0.5"'), '1');
  t.equal(series('request_duration_seconds_bucket', 'route="/v1",status="2xx",le="1"'), '2');
  t.equal(series('request_duration_seconds_bucket', 'route="/v1",status="5xx",le="30"'), '0');
  t.equal(series('request_duration_seconds_bucket', 'route="/v1",status="5xx",le="\\+Inf"'), '1');
  t.equal(Number(series('request_duration_seconds_sum', 'route="/v1",status="2xx"')).toFixed(3), '0.703');
  t.equal(series('upstream_wait_seconds_count', 'route="/v1"'), '1');
  t.equal(series('refusals_total', 'code="upstream_unreachable"'), '1');
  t.equal(series('upstream_errors_total', 'route="/v1",code="upstream_unreachable"'), '1');
  t.equal(series('acting_decisions_total', 'reason="self"'), '1');
});

t.test(
  'nothing a client writes becomes a label: paths, methods, ids and any status make no new series',
  async (t) => {
    const registry = new Registry();
    const { observe } = requestMetrics(registry);
    for (let i = 0; i < 500; i++) {
      const status = 100 + i;
      observe({
        ...record,
        path: `/${i}`,
        method: `M${i}`,
        keyId: `${i}`,
        resolvedTenant: `${i}`,
        requestId: `${i}`,
        status,
      });
    }
    const counts = (await registry.metrics()).split('\n').filter((line) => /seconds_count\{/.test(line));
    t.equal(counts.length, 5, 'one for each class of status');
  },
);

t.test('the exposition is one that Prometheus reads, with process and event loop in it', async (t) => {
  const registry = createRegistry();
  const events = coherenceMetrics(registry, () => null);
  requestMetrics(registry).observe(record);
  gauge(registry, 'some_gauge', 'Some gauge.', () => 7);
  events.cacheHit?.();
  events.leaseRenewed?.(3);
  events.barrierWait?.(12, 1);
  events.breakerState?.('open');
  const text = await registry.metrics();
  for (const line of text.trimEnd().split('\n')) {
    t.match(
      line,
      /^$|^# (HELP|TYPE) [a-z0-9_]+ .+|^[a-z0-9_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? (-?[0-9.e+-]+|Nan|\+Inf)$/,
    );
  }
  t.match(text, 'nodejs_eventloop_lag_p99_seconds');
  t.match(text, 'process_resident_memory_bytes');
  t.match(text, 'tenancy_gateway_some_gauge 7');
  t.match(text, 'tenancy_gateway_shared_cache_breaker 2');
  t.match(text, 'tenancy_gateway_barrier_unheard_total 1');
  t.match(text, 'tenancy_gateway_fact_lookups_total{found="memory"} 1');
});

t.test('a counter without labels is there before anything was counted', async (t) => {
  const registry = new Registry();
  const counted = counter(registry, 'things_total', 'Things.');
  t.match(await registry.metrics(), 'tenancy_gateway_things_total 0');
  counted.count();
  counted.count();
  t.match(await registry.metrics(), 'tenancy_gateway_things_total 2');
  t.match(await registry.metrics(), 'tenancy_gateway_things_total 2', 'and looking changes nothing');
});

t.test('bytes are summed by route, and a 429 is counted under the limit that was reached', async (t) => {
  const registry = new Registry();
  const { observe } = requestMetrics(registry);
  observe({ ...record, bytesIn: 5, bytesOut: 1_000 });
  observe({ ...record, bytesIn: 0, bytesOut: 24 });
  observe({ ...record, route: '/v1/sub-accounts', status: 429, code: 'too_many_requests', limit: 'changes' });
  const text = await registry.metrics();
  const lines = text.split('\n').filter((line) => /(?:body_bytes|too_many_requests)_total\{/.test(line));
  t.same(lines, [
    'tenancy_gateway_too_many_requests_total{limit="changes"} 1',
    'tenancy_gateway_request_body_bytes_total{route="/v1"} 5',
    'tenancy_gateway_response_body_bytes_total{route="/v1"} 1024',
  ]);
  t.match(text, 'refusals_total{code="too_many_requests"} 1');
});

t.test('what operators do is counted apart', async (t) => {
  const registry = new Registry();
  requestMetrics(registry);
  const observe = operatorRequestMetrics(registry);
  observe({ ...record, route: '/admin/v1/accounts', status: 401, code: 'unauthenticated' });
  const text = await registry.metrics();
  t.match(text, 'operator_request_duration_seconds_count{route="/admin/v1/accounts",status="4xx"} 1');
  t.match(text, 'operator_refusals_total{code="unauthenticated"} 1');
  t.notMatch(text, /^tenancy_gateway_(?:request_duration_seconds_count|refusals_total)\{/m);
});
