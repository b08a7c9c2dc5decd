/** More limits in use than one exchange carries. */
import t from 'tap';
import { noLimits } from '../../../src/domain/limits/limits.ts';
import { SharedRateLimiter } from '../../../src/limits/rate/limiter.ts';
import type { LimitedBy } from '../../../src/ports/limits/rate-limiter.ts';
import type { ShareBoard } from '../../../src/ports/limits/share-board.ts';
import { ModelBoard, ModelTotals } from '../../support/limits/model-stores.ts';
import { VirtualTime } from '../../support/limits/virtual-time.ts';

const limits = 6_000;
const [settleMs, endMs] = [4_000, 9_000];
/** Each replica asks for each limit about three times a second. */
const [stepMs, steps] = [40, 8];

/**
 * Two replicas that use the same limits, none of which is short. What they told of them, after they have settled: the part of
 * the rate that each has, on average, which is more than half where one takes the other for idle; and the longest time between
 * two reports of a limit.
 */
async function use(latencyMs: number): Promise<{ readonly share: number; readonly longestMs: number }> {
  const time = new VirtualTime();
  const net = { latencyMs: () => latencyMs, cut: () => false, lost: () => false };
  const model = new ModelBoard(time, net);
  const totals = new ModelTotals(time, net, Date.UTC(2026, 5, 15));
  const lastMs = new Map<string, number>();
  let [shares, reports, longestMs] = [0, 0, 0];
  const board: ShareBoard = {
    exchange: (replica, told) => {
      for (const { limit, share } of told) {
        const name = `${replica} ${limit}`;
        const sinceMs = time.nowMs - (lastMs.get(name) ?? time.nowMs);
        lastMs.set(name, time.nowMs);
        if (time.nowMs < settleMs) continue;
        shares += share;
        reports += 1;
        longestMs = Math.max(longestMs, sinceMs);
      }
      return model.exchange(replica, told);
    },
  };
  const names = ['a', 'b'];
  const replicas = names.map((name) => {
    const { clock, timers } = time.machine(1, 0);
    const limiter = new SharedRateLimiter({
      ...{ board, totals, clock, timers, replicas: () => new Set(names) },
      ...{ replicaId: () => name, randomId: () => name },
    });
    limiter.start();
    return limiter;
  });
  const of = Array.from({ length: limits }, (_, i): LimitedBy[] => [
    { kind: 'sub_account', id: `s${i}`, limits: { ...noLimits, requestsPerSecond: 100 }, shown: false },
  ]);
  for (let step = 0; step * stepMs < endMs; step++) {
    await time.until(step * stepMs);
    for (let i = step % steps; i < limits; i += steps)
      for (const replica of replicas) replica.take(of[i] ?? []);
  }
  for (const replica of replicas) await Promise.race([replica.stop(), time.until(time.nowMs + 60_000)]);
  return { share: shares / reports, longestMs };
}

t.test('with 6,000 limits in use on a replica none is taken for idle by the others', async (t) => {
  const { share, longestMs } = await use(2);
  t.ok(Math.abs(share - 0.5) < 0.03, `${share.toFixed(3)} of the rate each`);
  t.ok(longestMs < 500, `told of within ${longestMs} ms`);
});

t.test('nor where a round of them takes longer than a second, as the store is slow', async (t) => {
  const { share, longestMs } = await use(100);
  t.ok(Math.abs(share - 0.5) < 0.03, `${share.toFixed(3)} of the rate each`);
  t.ok(longestMs > 1_000, `told of within ${longestMs} ms`);
});
