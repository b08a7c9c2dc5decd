import t from 'tap';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { hourMs, type UsageRow } from '../../src/domain/usage.ts';
import { UsageRecorder } from '../../src/usage/recorder.ts';
import { UnusableUsage, type UsageEvent } from '../../src/ports/usage.ts';

interface Added {
  readonly batch: string;
  readonly rows: readonly UsageRow[];
  readonly replica: string;
  readonly throughMs: number;
}

const event: UsageEvent = {
  accountId: 'account' as AccountId,
  keyId: 'key' as KeyId,
  kind: 'read',
  status: 200,
  bytesIn: 1,
  bytesOut: 10,
};

t.test('requests are counted by account, key and hour, and added when it is time', async (t) => {
  const { recorder, added, world } = setting();
  await recorder.begin();
  recorder.record(event);
  recorder.record({ ...event, kind: 'write', status: 404 });
  recorder.record({ ...event, status: 502 });
  recorder.record({ ...event, keyId: 'other' as KeyId });
  world.wallMs += hourMs;
  recorder.record(event);
  await world.tick();
  t.equal(added.length, 2, 'one that announced this replica, and one batch');
  t.match(added[1]?.rows, [
    {
      keyId: 'key',
      requests: 3,
      reads: 2,
      writes: 1,
      clientErrors: 1,
      serverErrors: 1,
      bytesIn: 3,
      bytesOut: 30,
      hourMs: 0,
    },
    { keyId: 'other', requests: 1, hourMs: 0 },
    { keyId: 'key', requests: 1, hourMs },
  ]);
  t.equal(added[1]?.throughMs, world.wallMs);
});

t.test('a row says when its key was last used in that hour, whatever for', async (t) => {
  const { recorder, added, world } = setting();
  await recorder.begin();
  const from = world.wallMs;
  recorder.record(event);
  world.wallMs += 1_000;
  recorder.record(event);
  recorder.record({ ...event, keyId: 'other' as KeyId });
  world.wallMs += 1_000;
  recorder.touch(event.accountId, 'other' as KeyId);
  await world.tick();
  t.match(added[1]?.rows, [
    { keyId: 'key', lastUsedMs: from + 1_000 },
    { keyId: 'other', lastUsedMs: from + 2_000 },
  ]);
});

t.test('a key that is used for what is not counted is noted with the rest', async (t) => {
  const { recorder, added, world } = setting();
  await recorder.begin();
  recorder.touch(event.accountId, event.keyId);
  recorder.touch(event.accountId, 'other' as KeyId);
  recorder.record(event);
  await world.tick();
  t.match(added[1]?.rows, [
    { keyId: 'key', requests: 1 },
    { keyId: 'other', requests: 0, reads: 0, writes: 0 },
  ]);
});

t.test('a batch keeps its id until the store has it, and counting goes on beside it', async (t) => {
  const { recorder, added, world } = setting();
  await recorder.begin();
  recorder.record(event);
  world.away = 'after';
  await world.tick();
  recorder.record(event);
  recorder.record(event);
  await world.tick();
  world.away = undefined;
  await world.tick();
  await world.tick();
  const [first, second] = [added[1], added.at(-1)];
  t.ok(
    added.slice(1, -1).every(({ batch }) => batch === first?.batch),
    'tried again under the same id',
  );
  t.not(second?.batch, first?.batch);
  t.match(first?.rows, [{ requests: 1 }]);
  t.match(second?.rows, [{ requests: 2 }]);
  t.ok(recorder.lagMs() < 1_000);
});

t.test(
  'a store that is away at the start is no beginning, and nothing that was counted is lost',
  async (t) => {
    const { recorder, added, world } = setting();
    recorder.record(event);
    world.away = 'before';
    await t.rejects(recorder.begin());
    world.away = undefined;
    await recorder.begin();
    t.match(
      added.flatMap(({ rows }) => rows),
      [{ requests: 1 }],
    );
  },
);

t.test('the end adds what is left and says that there will be no more', async (t) => {
  const { recorder, added, world } = setting();
  await recorder.begin();
  recorder.record(event);
  await recorder.stop();
  t.match(added.at(-1), { throughMs: Infinity, rows: [{ requests: 1 }] });
  t.equal(world.waiting.length, 0, 'and nothing is scheduled any more');
});

t.test('many rows go in several batches, and only the last moves the report on', async (t) => {
  const { recorder, added, world } = setting();
  await recorder.begin();
  const before = added.length;
  world.wallMs += 5_000;
  for (let i = 0; i < 4_500; i++) recorder.record({ ...event, keyId: `key ${i}` as KeyId });
  await world.tick();
  const batches = added.slice(before);
  t.same(
    batches.map(({ rows }) => rows.length),
    [2000, 2000, 500],
  );
  t.equal(batches.filter(({ throughMs }) => throughMs === world.wallMs).length, 1);
  t.equal(batches.at(-1)?.throughMs, world.wallMs);
});

t.test('while nothing is counted the store hears of it now and then, so that reports move on', async (t) => {
  const { recorder, added, world } = setting();
  await recorder.begin();
  for (let i = 0; i < 10; i++) await world.tick();
  t.ok(added.length > 1 && added.length < 5, `${added.length} calls in 20 s`);
});

t.test('a row that the store can never add is set aside, and all others arrive', async (t) => {
  const { recorder, added, setAside, world } = setting();
  await recorder.begin();
  for (let i = 0; i < 3_000; i++) recorder.record({ ...event, keyId: `key ${i}` as KeyId });
  world.unusable = 'key 1234';
  await world.tick();
  recorder.record(event);
  await world.tick();
  const arrived = added.flatMap(({ rows }) => rows.map(({ keyId }) => keyId));
  t.equal(arrived.length, 3_000, 'all but one, and the one that came later');
  t.equal(new Set(arrived).size, arrived.length, 'none of them twice');
  t.match(setAside, [{ keyId: 'key 1234', requests: 1 }]);
  t.equal(recorder.lagMs(), 0, 'reports go on');
  t.equal(new Set(added.map(({ batch }) => batch)).size, added.length, 'no batch was added twice');
});

function setting() {
  const added: Added[] = [];
  const setAside: UsageRow[] = [];
  const world = {
    wallMs: 1_000,
    /** The store fails before, or after, it has taken a batch. */
    away: undefined as 'before' | 'after' | undefined,
    /** The store rejects every batch with a row of this key. */
    unusable: undefined as string | undefined,
    waiting: [] as (() => void)[],
    async tick(): Promise<void> {
      world.wallMs += 2_000;
      for (const task of world.waiting.splice(0)) task();
      // Everything here settles in microtasks.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  let ids = 0;
  const recorder = new UsageRecorder({
    store: {
      add: async (batch, rows, replica, throughMs) => {
        if (world.away === 'before') throw new Error('away');
        if (rows.some(({ keyId }) => keyId === world.unusable)) throw new UnusableUsage();
        added.push({ batch, rows: structuredClone(rows), replica, throughMs });
        if (world.away === 'after') throw new Error('the response was lost');
      },
    },
    clock: { wallMs: () => world.wallMs, monotonicMs: () => world.wallMs },
    timers: {
      after: (_ms, task) => {
        world.waiting.push(task);
        return () => {
          world.waiting = world.waiting.filter((one) => one !== task);
        };
      },
    },
    logger: {
      error: ({ row }: { row: UsageRow }) => void setAside.push(row),
      warn: () => undefined,
      info: () => undefined,
    },
    randomId: () => `id ${ids++}`,
  });
  return { recorder, added, setAside, world };
}
