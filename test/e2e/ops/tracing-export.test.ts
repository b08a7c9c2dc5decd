// class: real
/** What becomes of traces when their collector is slow, away or not wanted. */
import t from 'tap';
import type { Logger } from '../../../src/ops/logger.ts';
import { startTracing } from '../../../src/ops/tracing.ts';
import { systemTimers } from '../../../src/ports/timers.ts';
import { eventually } from '../../support/eventually.ts';
import { startCollector } from '../../support/otlp-collector.ts';
import { start } from '../../support/reload.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { startUpstream } from '../../support/upstreams.ts';

/** How long an export waits for the collector at most, as src/ops/tracing.ts has it. */
const exportTimeoutMs = 5_000;

t.test('without an endpoint, what a client says about traces goes through untouched', async (t) => {
  const upstream = await startUpstream(t);
  const { key, origin } = await start(t, `upstream_url: ${upstream.url}`);
  const authorization = `Bearer ${key}`;
  await fetch(`${origin}/x`, { headers: { authorization, traceparent: 'whatever', tracestate: 'a=1' } });
  await fetch(`${origin}/x`, { headers: { authorization } });
  const seen = upstream.received.map(({ values }) => [values('traceparent'), values('tracestate')]);
  t.same(seen, [
    [['whatever'], ['a=1']],
    [[], []],
  ]);
});

t.test('a collector that hangs or is away slows neither requests nor the end', async (t) => {
  const hanging = await startCollector(t, { hangs: true });
  const away = `http://127.0.0.1:${await unusedPort()}/v1/traces`;
  for (const endpoint of [hanging.endpoint, away]) {
    const upstream = await startUpstream(t);
    const yaml = `upstream_url: ${upstream.url}\ntracing: { endpoint: "${endpoint}" }`;
    const { gateway, key, origin } = await start(t, yaml);
    // A request that waited for its export would be one of those that take as long as an export may.
    let waited = 0;
    for (let i = 0; i < 150; i++) {
      const startedMs = performance.now();
      const answer = await fetch(`${origin}/x`, { headers: { authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      if (performance.now() - startedMs >= exportTimeoutMs) waited += 1;
      if (answer.status !== 200) t.equal(answer.status, 200);
    }
    t.ok(waited <= 1, `${waited} of 150 took as long as an export that nothing takes`);
    const stoppingMs = performance.now();
    await gateway.stop();
    t.ok(performance.now() - stoppingMs < exportTimeoutMs, 'and it ends as it would have');
  }
  t.ok(hanging.exports.length > 0);
});

t.test('a collector that takes nothing is one line a minute, and says how much was lost', async (t) => {
  const collector = await startCollector(t, { status: 400 });
  const lines: unknown[] = [];
  let nowMs = 0;
  let looks = 0;
  const tracing = startTracing({
    config: { endpoint: collector.endpoint, sampleRatio: 1, serviceName: 'edge' },
    version: '0',
    clock: { wallMs: () => Date.now(), monotonicMs: () => ((looks += 1), nowMs) },
    timers: systemTimers,
    logger: { warn: (fields: unknown) => lines.push(fields) } as unknown as Logger,
  });
  t.teardown(() => tracing.close());
  const lose = async (): Promise<void> => {
    const trace = tracing.tracer.begin({ method: 'GET', rawHeaders: [], socket: {} }, '/');
    trace.end({
      requestId: '',
      path: '/',
      status: 200,
      code: null,
      caller: null,
      upstreamMs: null,
    });
    // An export that came in is not yet one whose failure has come back. What counts the loss then asks for the time.
    const before = looks;
    await eventually(() => looks > before);
  };
  await lose();
  await eventually(() => lines.length === 1);
  nowMs = 59_999;
  await lose();
  await lose();
  nowMs = 60_000;
  await lose();
  await eventually(() => lines.length === 2);
  t.match(lines, [{ spans: 1 }, { spans: 3 }]);
});
