import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../lib/proc.ts';
import { Streams } from '../load/streams.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { column, metered, type Case } from './scenario.ts';

/** A proxy may notice only by its next two events that the client has gone. */
const closingLimitMs = 20_000;

/** Many event streams, one event a second on each: what they cost, what they delay, and whether they end. */
export const sse: readonly Case[] = [
  {
    id: 'sse',
    title: 'Event streams, one event a second on each',
    columns: [
      { key: 'cpuUs', title: 'CPU µs/event', digits: 1, better: 'lower' },
      { key: 'p50', title: 'p50 µs', digits: 0, better: 'lower' },
      { key: 'p99', title: 'p99 µs', digits: 0, better: 'lower' },
      { key: 'kbPerStream', title: 'KB/stream', digits: 1, better: 'lower' },
      { key: 'open', title: 'open at the end', digits: 0 },
      { key: 'openingMs', title: 'opening ms', digits: 0 },
      { key: 'closingMs', title: 'closing ms', digits: 0 },
      column.rssMb,
    ],
    async measure(target, { seconds, streams: count }) {
      const streams = new Streams();
      try {
        const idle = usageOf(target.running.proxyPids).rssBytes;
        const start = performance.now();
        await streams.start(target.running, count);
        const openingMs = performance.now() - start;
        if (streams.open < count)
          throw new Error(`opened ${streams.open} of ${count} streams; ${streams.lastFailure}`);
        const { result, cost } = await metered(
          target,
          () => listen(streams, seconds),
          ({ delaysMs }) => delaysMs.length,
        );
        const kbPerStream = (usageOf(target.running.proxyPids).rssBytes - idle) / 1_024 / result.open;
        streams.close();
        return {
          ...cost,
          p50: quantile(result.delaysMs, 0.5) * 1_000,
          p99: quantile(result.delaysMs, 0.99) * 1_000,
          kbPerStream,
          open: result.open,
          openingMs,
          closingMs: await untilClosed(target.upstream),
        };
      } finally {
        streams.close();
      }
    },
  },
];

async function listen(streams: Streams, seconds: number): Promise<{ delaysMs: number[]; open: number }> {
  streams.delaysMs = [];
  await sleep(seconds * 1_000);
  return { delaysMs: streams.delaysMs.toSorted((a, b) => a - b), open: streams.open };
}

/** How long it takes until the upstream knows that the clients have gone. */
async function untilClosed({ helper }: Upstream): Promise<number> {
  const start = performance.now();
  while (helper.streams() > 0) {
    if (performance.now() - start > closingLimitMs)
      throw new Error(`${helper.streams()} streams were left open`);
    await sleep(5);
  }
  return performance.now() - start;
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.floor(q * (sorted.length - 1))] ?? Number.NaN;
}
