// class: real
/** What becomes of traces when their collector is slow, away or not wanted. */
import t from 'tap';
import type { Logger } from '../../../src/ops/logger.ts';
import { startTracing, type Tracing, type TracingParts } from '../../../src/ops/tracing.ts';
import { systemTimers } from '../../../src/ports/timers.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';
import { eventually } from '../../support/eventually.ts';
import { lookupWith } from '../../support/names.ts';
import { startCollector } from '../../support/otlp-collector.ts';
import { start } from '../../support/reload.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { startUpstream } from '../../support/upstreams.ts';

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

t.test('a collector that hangs or is away keeps no request waiting, nor the end', async (t) => {
  const hanging = await startCollector(t, { hangs: true });
  const away = `http://127.0.0.1:${await unusedPort()}/v1/traces`;
  for (const endpoint of [hanging.endpoint, away]) {
    const upstream = await startUpstream(t);
    const yaml = `upstream_url: ${upstream.url}\ntracing: { endpoint: "${endpoint}" }`;
    const { gateway, key, origin } = await start(t, yaml);
    for (let i = 0; i < 150; i++) {
      const answer = await fetch(`${origin}/x`, { headers: { authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      if (answer.status !== 200) t.equal(answer.status, 200);
    }
    await gateway.stop();
  }
  const { length } = hanging.exports;
  t.ok(length > 0 && length < 150, `${length} exports: no request waited for one of its own`);

  const time = new ManualTime();
  const tracing = begin(hanging.endpoint, time);
  span(tracing);
  const closing = tracing.close();
  await eventually(() => hanging.exports.length > length);
  await time.advance(1_000);
  await closing;
  t.equal(hanging.exports.at(-1)?.socket.destroyed, false, 'closed while an export was under way');
});

t.test('a collector that takes nothing is one line a minute, and says how much was lost', async (t) => {
  const collector = await startCollector(t, { status: 400 });
  const lines: unknown[] = [];
  let nowMs = 0;
  let looks = 0;
  const clock = { wallMs: () => Date.now(), monotonicMs: () => ((looks += 1), nowMs) };
  const tracing = begin(collector.endpoint, { clock, timers: systemTimers }, (fields) => lines.push(fields));
  t.teardown(() => tracing.close());
  const lose = async (): Promise<void> => {
    span(tracing);
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

function begin(
  endpoint: string,
  time: Pick<TracingParts, 'clock' | 'timers'>,
  warn = (_: unknown): unknown => null,
) {
  const config = { endpoint, sampleRatio: 1, serviceName: 'edge' };
  return startTracing({
    config,
    version: '0',
    ...time,
    lookup: lookupWith(),
    logger: { warn } as unknown as Logger,
  });
}

function span({ tracer }: Tracing): void {
  const trace = tracer.begin({ method: 'GET', rawHeaders: [], socket: {} }, '/');
  trace.end({ requestId: '', path: '/', status: 200, code: null, caller: null, upstreamMs: null });
}
