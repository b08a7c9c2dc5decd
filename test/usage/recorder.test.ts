import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { hourMs, type UsageRow } from '../../src/domain/usage.ts';
import { UnusableUsage, type UsageBatch } from '../../src/ports/usage.ts';
import { replayAbandoned } from '../../src/usage/journal/abandoned.ts';
import { Journal, type LockFolder } from '../../src/usage/journal/journal.ts';
import { UsageRecorder } from '../../src/usage/recorder.ts';
import { StoreClock } from '../../src/usage/store-clock.ts';
import { eventually } from '../support/eventually.ts';

const account = 'account' as AccountId;
const key = 'key' as KeyId;

t.test('requests are counted by account, key and hour, and added when it is time', async (t) => {
  const { recorder, world, usageOf } = await setting(t);
  await recorder.begin();
  const first = recorder.count(account, key, 'read');
  recorder.noteOutcome(recorder.count(account, key, 'write'), 404);
  recorder.noteBytes(first, 3, 30);
  recorder.count(account, 'other' as KeyId, 'read');
  await world.pass(hourMs);
  recorder.noteOutcome(first, 502);
  recorder.count(account, key, 'read');
  await world.tick();
  const counts = { requests: 2, reads: 1, writes: 1, clientErrors: 1, serverErrors: 1 };
  t.match(
    usageOf(key, 0),
    { ...counts, bytesIn: 3, bytesOut: 30 },
    'the outcome is in the hour of the hand-over',
  );
  t.match(usageOf('other', 0), { requests: 1 });
  t.match(usageOf(key, hourMs), { requests: 1, serverErrors: 0 });
  t.equal(world.throughMs, world.nowMs - 1_000);
});

t.test('a request that was not sent after all is not counted', async (t) => {
  const { recorder, world, usageOf } = await setting(t);
  await recorder.begin();
  const counted = recorder.count(account, key, 'write');
  recorder.count(account, key, 'read');
  recorder.commit();
  recorder.takeBack(counted, 'write');
  await world.tick();
  t.match(usageOf(key, 0), { requests: 1, reads: 1, writes: 0 });
});

t.test(
  'writes by default are counted among the writes, by a kill too, and taken back with them',
  async (t) => {
    const { recorder, world, usageOf, killed, next } = await setting(t);
    await recorder.begin();
    recorder.count(account, key, 'write-by-default');
    recorder.count(account, key, 'write');
    world.nowMs += 5;
    recorder.takeBack(recorder.count(account, key, 'write-by-default'), 'write-by-default');
    recorder.count(account, 'other' as KeyId, 'write-by-default');
    recorder.commit();
    killed();
    await next();
    t.match(usageOf(key, 0), { requests: 2, writes: 2, writesByDefault: 1 });
    t.match(usageOf('other', 0), { writesByDefault: 1, lastWriteByDefaultMs: world.nowMs });
  },
);

t.test('bytes of what is under way are asked for, and count in the hour in which they pass', async (t) => {
  const { recorder, world, usageOf } = await setting(t);
  await recorder.begin();
  const stream = recorder.count(account, key, 'read');
  let passed = 0;
  recorder.onCollect(() => {
    recorder.noteBytes(stream, 0, passed);
    passed = 0;
  });
  passed = 10;
  await world.tick();
  passed = 5;
  world.nowMs = hourMs + 1;
  await world.tick();
  passed = 100;
  await world.tick();
  t.equal(usageOf(key, 0).bytesOut, 15, 'what has passed since the last time was before the hour');
  t.match(usageOf(key, hourMs), { requests: 0, bytesOut: 100 });
});

t.test('hours are those of the store, whatever the clock of this machine says', async (t) => {
  const { recorder, world, usageOf } = await setting(t);
  world.storeAheadMs = hourMs;
  await recorder.begin();
  recorder.count(account, key, 'read');
  await world.tick();
  t.match(usageOf(key, hourMs), { requests: 1 });
});

t.test('a key that is used for what is not counted is noted with the rest', async (t) => {
  const { recorder, world, usageOf } = await setting(t);
  await recorder.begin();
  recorder.touch(account, key);
  await world.tick();
  t.match(usageOf(key, 0), { requests: 0, lastUsedMs: world.nowMs - 2_000 });
});

t.test('where the response of the store is lost nothing counts twice, and counting goes on', async (t) => {
  const { recorder, world, usageOf } = await setting(t);
  await recorder.begin();
  recorder.count(account, key, 'read');
  world.away = 'after';
  await world.tick();
  recorder.count(account, key, 'read');
  recorder.count(account, key, 'read');
  await world.tick();
  world.away = undefined;
  await world.tick();
  await world.tick();
  t.match(usageOf(key, 0), { requests: 3 });
  t.ok(recorder.lagMs() < 4_000);
});

t.test('a store that is away at the start is no beginning', async (t) => {
  const { recorder, world, usageOf } = await setting(t);
  recorder.touch(account, key);
  world.away = 'before';
  await t.rejects(recorder.begin());
  world.away = undefined;
  await recorder.begin();
  await world.tick();
  t.match(usageOf(key, 0), { requests: 0 });
});

t.test('the end adds what is left, says that there will be no more, and leaves no journal', async (t) => {
  const { recorder, world, usageOf, folder } = await setting(t);
  await recorder.begin();
  recorder.count(account, key, 'read');
  await recorder.stop();
  t.match(usageOf(key, 0), { requests: 1 });
  t.equal(world.throughMs, Infinity);
  t.equal(world.waiting.length, 0, 'and nothing is scheduled any more');
  t.same(await readdir(join(folder, 'store')), []);
});

t.test('while nothing is counted the store hears of it now and then, so that reports move on', async (t) => {
  const { recorder, world } = await setting(t);
  await recorder.begin();
  const before = world.calls;
  for (let i = 0; i < 10; i++) await world.tick();
  t.ok(world.calls > before && world.calls < before + 4, `${world.calls - before} calls in 20 s`);
  t.ok(recorder.lagMs() < 12_000);
});

t.test('a row that the store can never add is set aside, and all others arrive', async (t) => {
  const { recorder, world, setAside, usageOf } = await setting(t);
  await recorder.begin();
  for (let i = 0; i < 3_000; i++) recorder.count(account, `key ${i}` as KeyId, 'read');
  world.unusable = 'key 1234';
  await world.tick();
  recorder.count(account, 'later' as KeyId, 'read');
  await world.tick();
  t.equal(world.requests(), 3_000, 'all but one, and the one that came later');
  t.equal(usageOf('later', 0).requests, 1);
  t.match(setAside, [{ keyId: 'key 1234', requests: 1 }]);
});

t.test('what a killed process has counted is added by the next one, once', async (t) => {
  const { recorder, world, killed, next } = await setting(t);
  await recorder.begin();
  for (let i = 0; i < 50; i++) recorder.count(account, `key ${i}` as KeyId, 'read');
  recorder.commit();
  world.away = 'after';
  await world.tick();
  for (let i = 0; i < 70; i++) recorder.count(account, `key ${i}` as KeyId, 'write');
  recorder.commit();
  killed();
  world.away = undefined;
  t.equal(world.requests(), 50, 'which the store has, though its response was lost');
  await next();
  t.equal(world.requests(), 120);
  await next();
  t.equal(world.requests(), 120, 'there is nothing left');
  t.equal(world.throughMs, Infinity, 'reports do not wait for it any more');
});

t.test('a replay that is killed in the middle goes on where it was', async (t) => {
  const { recorder, world, killed, next } = await setting(t);
  await recorder.begin();
  for (let i = 0; i < 5_000; i++) recorder.count(account, `key ${i}` as KeyId, 'read');
  recorder.commit();
  killed();
  for (const [left, away] of [
    [1, 'after'],
    [1, 'before'],
    [2, 'after'],
  ] as const) {
    world.callsLeft = left;
    world.awayThen = away;
    await next(false);
  }
  world.callsLeft = Infinity;
  await next();
  t.equal(world.requests(), 5_000);
});

t.test('the journal of a process that lives is left alone', async (t) => {
  const { recorder, world, next } = await setting(t);
  await recorder.begin();
  recorder.count(account, key, 'read');
  recorder.commit();
  await next(false);
  t.equal(world.requests(), 0);
  await world.tick();
  t.equal(world.requests(), 1);
});

t.test('while the store is away rows go to disk, not to memory, and all arrive', async (t) => {
  const { recorder, world } = await setting(t);
  await recorder.begin();
  world.away = 'before';
  for (let i = 0; i < 90_000; i++) {
    recorder.count(account, `key ${i}` as KeyId, 'read');
    if (i % 1_000 === 0) recorder.commit();
    if (i % 10_000 === 0) await world.tick();
  }
  world.away = undefined;
  for (let i = 0; i < 3; i++) await world.tick();
  t.equal(world.requests(), 90_000);
});

t.test('a journal that cannot be written is said once, stops nothing, and is taken up again', async (t) => {
  const { recorder, world, killed, next, said, folder } = await setting(t, { journalBytes: 2_000 });
  await recorder.begin();
  world.away = 'before';
  for (let i = 0; i < 100; i++) {
    recorder.count(account, `key ${i}` as KeyId, 'read');
    recorder.commit();
  }
  t.equal(recorder.unwritable, true, 'it is full');
  await world.tick();
  t.equal(said.filter((text) => text.includes('cannot be written')).length, 1);
  world.away = undefined;
  for (let i = 0; i < 8; i++) await world.tick();
  t.equal(world.requests(), 100, 'what was in memory arrives');
  t.equal(recorder.unwritable, false);
  t.ok(said.some((text) => text.includes('is written again')));
  recorder.count(account, key, 'read');
  recorder.commit();
  killed();
  await next();
  t.equal(world.requests(), 101, 'and a crash loses nothing again');
  t.same(await readdir(join(folder, 'store')), []);
});

t.test('a folder that cannot be made is no obstacle either', async (t) => {
  const { recorder, world, folder } = await setting(t);
  await rm(folder, { recursive: true });
  await writeFile(folder, 'a file');
  await recorder.begin();
  recorder.count(account, key, 'read');
  recorder.commit();
  await world.tick();
  t.equal(world.requests(), 1);
  t.equal(recorder.unwritable, true);
  await rm(folder);
  await world.tick();
  t.equal(recorder.unwritable, true, 'not yet: it may be for a moment');
  for (let i = 0; i < 6; i++) await world.tick();
  t.equal(recorder.unwritable, false);
});

t.test('a folder that is taken away is made again', async (t) => {
  const { recorder, world, folder } = await setting(t);
  await recorder.begin();
  recorder.count(account, key, 'read');
  recorder.commit();
  await rm(folder, { recursive: true });
  await world.tick();
  for (let i = 0; i < 3; i++) {
    recorder.count(account, key, 'read');
    recorder.commit();
    await world.tick();
  }
  t.equal(world.requests(), 4);
  for (let i = 0; i < 6; i++) await world.tick();
  t.equal(recorder.unwritable, false);
  await chmod(folder, 0o700);
});

async function setting(t: Test, { journalBytes = 2 ** 30 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'usage-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const setAside: UsageRow[] = [];
  const said: string[] = [];
  const rows: UsageRow[] = [];
  const rowsIn = new Map<string, number>();
  const world = {
    nowMs: 10_000,
    storeAheadMs: 0,
    throughMs: 0,
    calls: 0,
    /** The store fails before, or after, it has taken a batch. */
    away: undefined as 'before' | 'after' | undefined,
    /** So many calls work, then the store is away. */
    callsLeft: Infinity,
    awayThen: 'before' as 'before' | 'after',
    /** The store rejects every batch with a row of this key. */
    unusable: undefined as string | undefined,
    waiting: [] as (() => void)[],
    requests: () => rows.reduce((sum, row) => sum + row.requests, 0),
    async tick(): Promise<void> {
      await world.pass(2_000);
      const flushed = world.waiting.splice(0);
      for (const task of flushed) task();
      if (flushed.length > 0) await eventually(() => world.waiting.length > 0);
    },
    async pass(ms: number): Promise<void> {
      world.nowMs += ms;
    },
  };
  const clock = { wallMs: () => world.nowMs, monotonicMs: () => world.nowMs };
  const add = async ({ journal, from, to, rows: added, throughMs }: UsageBatch) => {
    const away = world.callsLeft-- > 0 ? world.away : world.awayThen;
    world.calls += 1;
    if (away === 'before') throw new Error('away');
    if (added.some(({ keyId }) => keyId === world.unusable)) throw new UnusableUsage();
    const known = rowsIn.get(journal) ?? 0;
    if (from >= known && to > known) {
      rows.push(...structuredClone(added));
      rowsIn.set(journal, to);
    }
    if (throughMs !== null) world.throughMs = throughMs;
    if (away === 'after') throw new Error('the response was lost');
    return { rowsIn: Math.max(to, known), nowMs: world.nowMs + world.storeAheadMs };
  };
  const about = async () => {
    if (world.away === 'before') throw new Error('away');
    return { id: 'store', nowMs: world.nowMs + world.storeAheadMs };
  };
  const store = { add, about };
  const timers = {
    after: (_ms: number, task: () => void) => {
      world.waiting.push(task);
      return () => void (world.waiting = world.waiting.filter((one) => one !== task));
    },
  };
  const logger = {
    error: ({ row }: { row: UsageRow }) => void setAside.push(row),
    warn: (...what: unknown[]) => void said.push(String(what.at(-1))),
    info: (...what: unknown[]) => void said.push(String(what.at(-1))),
  };
  const locked = new Set<string>();
  const lock: LockFolder = async (path) => {
    if (locked.has(path)) return null;
    locked.add(path);
    return { release: async () => void locked.delete(path) };
  };
  const id = randomUUID();
  const journal = new Journal({ dir: folder, id, mostBytes: journalBytes, lock });
  const recorder = new UsageRecorder({ store, journal, clock, timers, logger, id });
  /** The process is gone, and its lock with it. */
  const killed = (): void => {
    world.waiting = [];
    locked.clear();
  };
  /** A process that starts then. @param allDone it gets to the end */
  const next = async (allDone = true): Promise<void> => {
    const parts = { store, clock: new StoreClock(clock), logger, dir: folder, own: 'own', lock };
    let looked = false;
    const stop = replayAbandoned(
      { ...parts, timers: { after: () => ((looked = true), () => undefined) } },
      'store',
    );
    await eventually(() => looked);
    await stop();
    if (allDone) t.same(await readdir(join(folder, 'store')), []);
  };
  const usageOf = (keyId: string, hour: number): UsageRow => {
    const found = rows.filter((row) => row.keyId === keyId && row.hourMs === hour);
    const [first] = found;
    if (first === undefined) throw new Error(`nothing was added for ${keyId} in the hour ${hour}`);
    const sum = (field: keyof UsageRow): number => found.reduce((all, row) => all + Number(row[field]), 0);
    return {
      ...{ ...first, lastUsedMs: Math.max(...found.map((row) => row.lastUsedMs)) },
      ...{ requests: sum('requests'), reads: sum('reads'), writes: sum('writes') },
      ...{ clientErrors: sum('clientErrors'), serverErrors: sum('serverErrors') },
      ...{ bytesIn: sum('bytesIn'), bytesOut: sum('bytesOut') },
    };
  };
  return { recorder, world, setAside, said, killed, next, usageOf, folder };
}
