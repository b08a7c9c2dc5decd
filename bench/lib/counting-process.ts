/** One process of `bench:metering --processes`: counts requests, adds the counts to the store, and reports to its parent. */
import { randomUUID } from 'node:crypto';
import { Pool } from '../../src/adapters/postgres/connection/pool.ts';
import { connectByUrl } from '../../src/adapters/postgres/connection/sql.ts';
import { usageStore } from '../../src/adapters/postgres/usage/usage-store.ts';
import type { KeyId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import type { UsageBatch } from '../../src/ports/usage.ts';
import { Journal } from '../../src/usage/journal/journal.ts';
import { UsageRecorder } from '../../src/usage/recorder.ts';
import { accountOf, type Counted, type Counting } from './counting-fleet.ts';

/** Statements are cancelled after that time, as in the gateway. */
const statementMs = 2_000;
const turnMs = 50;

process.once('message', (counting: Counting) => {
  void count(counting).then((counted) => process.send?.(counted, () => process.exit(0)));
});

async function count({ url, dir, accounts, parents, rate, seconds, mostMs }: Counting): Promise<Counted> {
  const pool = new Pool(connectByUrl(url, statementMs), 1);
  const runner = pool.withDeadline(2.5 * statementMs);
  const store = usageStore(runner, runner, runner);
  const sums = { counted: 0, failed: 0, lost: 0 };
  const add = async (batch: UsageBatch): ReturnType<typeof store.add> => {
    try {
      return await store.add(batch);
    } catch (error) {
      sums.failed += 1;
      throw error;
    }
  };
  const id = randomUUID();
  const lock = async (): Promise<{ release(): Promise<void> }> => ({ release: async () => undefined });
  const quiet = { error: () => undefined, warn: () => undefined, info: () => undefined };
  const recorder = new UsageRecorder({
    ...{
      store: { add, about: () => store.about() },
      clock: systemClock,
      timers: systemTimers,
      logger: quiet,
    },
    ...{ journal: new Journal({ dir, id, mostBytes: 2 ** 28, lock }), host: 'bench' },
    keysPerAccountHour: 200,
    onLost: () => (sums.lost += 1),
  });
  await recorder.begin();
  const keys = Array.from({ length: parents }, (_, i) => accountOf(i).replace('-8000-', '-9000-') as KeyId);
  const began = performance.now();
  for (let passed = 0; passed < seconds * 1_000; passed = performance.now() - began) {
    for (const until = (rate * passed) / 1_000; sums.counted < until; sums.counted++) {
      const n = Math.floor(Math.random() * accounts);
      recorder.count(
        { accountId: accountOf(n), parentId: accountOf(n % parents), keyId: keys[n % parents] as KeyId },
        'read',
      );
    }
    recorder.commit();
    await new Promise((resolve) => setTimeout(resolve, turnMs));
  }
  await recorder.stop(systemClock.monotonicMs() + mostMs - seconds * 1_000);
  return { ...sums, ms: performance.now() - began };
}
