// class: pure
import t from 'tap';
import { FigureWindow } from '../../../src/ops/live/figure-window.ts';
import { createRegistry } from '../../../src/ops/metrics.ts';
import { requestMetrics } from '../../../src/ops/request-metrics.ts';
import type { RequestRecord } from '../../../src/ports/request-record.ts';
import { requestRecord } from '../../support/request-record.ts';

const record = requestRecord();

/** A window over the metrics of a process, read every five seconds. */
function watched() {
  const { observe, read } = requestMetrics(createRegistry());
  let nowMs = 0;
  const window = new FigureWindow(read(), nowMs);
  const count = (requests: number, more: Partial<RequestRecord> = {}): void => {
    for (let i = 0; i < requests; i++) observe({ ...record, ...more });
  };
  return { count, next: () => window.next(read(), (nowMs += 5_000)) };
}

t.test('figures are about the last minute, and older requests no longer count', async (t) => {
  const { count, next } = watched();
  count(600, { code: 'rate_limited', status: 429 });
  t.match(next(), { requestsPerSecond: 120, refusals: [{ code: 'rate_limited', count: 600 }] });
  for (let i = 1; i < 12; i++) t.match(next(), { requestsPerSecond: Number, p50Ms: Number });
  t.same(next(), { requestsPerSecond: 0, refusals: [], p50Ms: null, p99Ms: null });
});

t.test('quantiles lie within the bucket of the histogram, and end at its last bound', async (t) => {
  const { count, next } = watched();
  count(98, { durationMs: 2 });
  count(2, { durationMs: 400 });
  const { p50Ms, p99Ms } = next();
  t.ok(p50Ms !== null && p50Ms > 1 && p50Ms <= 2.5, String(p50Ms));
  t.ok(p99Ms !== null && p99Ms > 250 && p99Ms <= 500, String(p99Ms));
  count(1_000, { durationMs: 90_000 });
  t.equal(next().p99Ms, 30_000);
});

t.test('durations are those of proxied requests, and not how long WebSockets were open', async (t) => {
  const { count, next } = watched();
  count(5, { durationMs: 60_000, status: 101 });
  count(5, { route: '/v1/sub-accounts' });
  count(5, { route: '/v1/sub-accounts/:id' });
  count(5, { route: 'none' });
  t.match(next(), { requestsPerSecond: 4, p50Ms: null, p99Ms: null });
});

t.test('the twenty most frequent codes are named, the most frequent first', async (t) => {
  const { count, next } = watched();
  for (let i = 1; i <= 25; i++) count(i, { code: `code_${i}` as 'internal' });
  const { refusals } = next();
  t.equal(refusals.length, 20);
  t.same(refusals[0], { code: 'code_25', count: 25 });
  t.same(refusals[19], { code: 'code_6', count: 6 });
});
