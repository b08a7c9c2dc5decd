// class: app
/** Counts that a database had and lost, as by a backup or the promotion of an asynchronous standby. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import pino from 'pino';
import { uuidV7 } from '../../../src/domain/ids.ts';
import { hourMs } from '../../../src/domain/usage.ts';
import { systemClock } from '../../../src/ports/clock.ts';
import { Journal } from '../../../src/usage/journal/journal.ts';
import { UsageRecorder } from '../../../src/usage/recorder.ts';
import { createKey, createParent, freshStore } from '../../support/store.ts';

/** A process that counts, and a database that can go back. */
async function setUp(t: Test) {
  const { store, sql } = await freshStore(t);
  const accountId = (await createParent(store.tenants)).id;
  const by = { accountId, parentId: accountId, keyId: (await createKey(store.tenants, accountId)).key.id };
  let pastMs = 0;
  const clock = {
    wallMs: () => Date.now() + pastMs,
    monotonicMs: () => systemClock.monotonicMs() + pastMs,
  };
  const journal = new Journal({
    ...{ dir: t.testdir({}), id: uuidV7(clock.wallMs(), randomBytes(10)), mostBytes: 2 ** 20 },
    lock: async () => ({ release: async () => undefined }),
  });
  const recorder = new UsageRecorder({
    ...{
      store: store.usage,
      journal,
      clock,
      keysPerAccountHour: 200,
      host: 'test',
      logger: pino({ enabled: false }),
    },
    timers: { after: () => () => undefined },
  });
  await recorder.begin();
  const count = async (): Promise<void> => {
    recorder.count(by, 'read');
    recorder.commit();
    await recorder.deliver();
  };
  let rests = 0;
  // Each answer of the store sets the recorder's clock right, so each rest is longer than the one before.
  const rest = async (): Promise<void> => {
    pastMs += 20_000 * (rests += 1);
    await recorder.deliver();
  };
  const incomplete = async (fromMs: number, toMs: number): Promise<boolean> =>
    (await store.usage.completeness({ fromMs, toMs }, 86_400_000)).incomplete;
  const now = (): Promise<boolean> => incomplete(Date.now() - hourMs, Date.now() + hourMs);
  const wentBackTo = (state: 'kept' | 'nothing') =>
    sql.begin(async (tx) => {
      await tx`delete from usage_journal`;
      if (state === 'kept') await tx`insert into usage_journal table kept`;
    });
  return { sql, count, rest, incomplete, now, wentBackTo };
}

for (const [what, next] of [
  ['counts more', 'count'],
  ['has nothing to count', 'rest'],
] as const)
  for (const state of ['kept', 'nothing'] as const)
    t.test(
      `a report says that counts were taken back: the process ${what}, its row is ${state}`,
      async (t) => {
        const process = await setUp(t);
        await process.count();
        await process.sql`create table kept as table usage_journal`;
        await process.count();
        await process[next]();
        t.notOk(await process.now(), 'the control');

        await process.wentBackTo(state);
        await process[next]();
        t.ok(await process.now());
        t.notOk(
          await process.incomplete(Date.now() - 2 * hourMs, Date.now() - hourMs),
          'before that nothing is lost',
        );
        const [{ position }] = await process.sql<[{ position: number }]>`select position from usage_journal`;
        await process.count();
        const [later] = await process.sql<[{ position: number }]>`select position from usage_journal`;
        t.ok(later.position > position, 'it goes on');
      },
    );
