/** More limits in use than one exchange carries. */
import t from 'tap';
import { noLimits } from '../../../src/domain/limits/limits.ts';
import { SharedRateLimiter } from '../../../src/limits/rate/limiter.ts';
import type { LimitedBy } from '../../../src/ports/limits/rate-limiter.ts';
import { ModelBoard, ModelTotals } from '../../support/limits/model-stores.ts';
import { VirtualTime } from '../../support/limits/virtual-time.ts';

const limits = 6_000;
const rate = 2;
const windowS = 10;

/** Two replicas that are asked for each limit three times a second; what was let through of each, least and most. */
async function use(latencyMs: number): Promise<{ readonly least: number; readonly most: number }> {
  const time = new VirtualTime();
  const net = { latencyMs: () => latencyMs, cut: () => false, lost: () => false };
  const board = new ModelBoard(time, net);
  const totals = new ModelTotals(time, net, Date.UTC(2026, 5, 15));
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
    { kind: 'sub_account', id: `s${i}`, limits: { ...noLimits, requestsPerSecond: rate }, shown: false },
  ]);
  const admitted = new Int32Array(limits);
  const [stepMs, steps] = [40, 8];
  const settleMs = 5_000;
  for (let step = 0; step * stepMs < settleMs + 1_000 * windowS; step++) {
    await time.until(step * stepMs);
    for (let i = step % steps; i < limits; i += steps)
      for (const replica of replicas)
        if (!replica.take(of[i] ?? []).full && step * stepMs >= settleMs)
          admitted[i] = (admitted[i] ?? 0) + 1;
  }
  for (const replica of replicas) await Promise.race([replica.stop(), time.until(time.nowMs + 60_000)]);
  return { least: Math.min(...admitted), most: Math.max(...admitted) };
}

t.test('with 6,000 limits in use on a replica none is taken for idle by the others', async (t) => {
  const { least, most } = await use(2);
  t.ok(most <= 1.05 * (rate * windowS + rate) + 2, `${most} at most`);
  t.ok(least >= 0.95 * rate * windowS - 2, `${least} at least`);
});

t.test('nor where a round of them takes longer than a second, as the store is slow', async (t) => {
  const { least, most } = await use(100);
  t.ok(most <= 1.5 * (rate * windowS + rate) + 2, `${most} at most`);
  t.ok(least >= 0.9 * rate * windowS - 2, `${least} at least`);
});
