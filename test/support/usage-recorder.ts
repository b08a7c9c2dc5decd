/** A recorder of usage in manual time, with a store that does what a test says, and journals in a folder of its own. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { ProblemError } from '../../src/domain/problem.ts';
import type { UsageRow, UsedBy } from '../../src/domain/usage.ts';
import { UnusableUsage, type UsageBatch } from '../../src/ports/usage.ts';
import { replayAbandoned } from '../../src/usage/journal/abandoned.ts';
import { Journal, type LockFolder } from '../../src/usage/journal/journal.ts';
import { UsageRecorder } from '../../src/usage/recorder.ts';
import { PortionSize } from '../../src/usage/portion-size.ts';
import { StoreClock } from '../../src/usage/store-clock.ts';
import { eventually } from './eventually.ts';

const unavailable = (detail: string): ProblemError => new ProblemError({ code: 'unavailable', detail });

const accountId = 'account' as AccountId;
/** Use of a key of the only account there is. */
export const used = (keyId = 'key'): UsedBy => ({ accountId, parentId: accountId, keyId: keyId as KeyId });

/** A recorder that has begun. */
export async function begunRecorder(...options: Parameters<typeof recorderInManualTime>) {
  const made = await recorderInManualTime(...options);
  await made.recorder.begin();
  return made;
}

/** It begins ten seconds after 1970. @param journalBytes that the journal may take */
export async function recorderInManualTime(
  t: Test,
  { journalBytes = 2 ** 30, readThrough = (): number | null => 7 } = {},
) {
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
    /** Of the last batch. */
    readThrough: null as number | null,
    calls: 0,
    /** The store fails before, or after, it has taken a batch. */
    away: undefined as 'before' | 'after' | undefined,
    /** The store takes calls, and does not respond. */
    hangs: false,
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
  const add = async ({ journal, from, to, rows: added, throughMs, readThrough = null }: UsageBatch) => {
    world.readThrough = readThrough;
    const away = world.callsLeft-- > 0 ? world.away : world.awayThen;
    world.calls += 1;
    if (world.hangs) await new Promise(() => undefined);
    if (away === 'before') throw unavailable('away');
    if (added.some(({ keyId }) => keyId === world.unusable)) throw new UnusableUsage();
    const known = rowsIn.get(journal) ?? 0;
    if (from >= known && to > known) {
      rows.push(...structuredClone(added));
      rowsIn.set(journal, to);
    }
    if (throughMs !== null) world.throughMs = throughMs;
    if (away === 'after') throw unavailable('the response was lost');
    return { rowsIn: Math.max(to, known), nowMs: world.nowMs + world.storeAheadMs };
  };
  const about = async () => {
    if (world.away === 'before') throw unavailable('away');
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
    error: (what: unknown, message?: string) => {
      const { row } = what as { readonly row?: UsageRow };
      if (row === undefined) said.push(String(message));
      else setAside.push(row);
    },
    warn: (...what: unknown[]) => void said.push(String(what.at(-1))),
    info: (...what: unknown[]) => void said.push(String(what.at(-1))),
  };
  let malformed = 0;
  const locked = new Set<string>();
  const lock: LockFolder = async (path) => {
    if (locked.has(path)) return null;
    locked.add(path);
    return { release: async () => void locked.delete(path) };
  };
  const id = randomUUID();
  const journal = new Journal({ dir: folder, id, mostBytes: journalBytes, lock });
  const recorder = new UsageRecorder({
    ...{ store, journal, clock, timers, host: 'test', logger },
    ...{ keysPerAccountHour: 200, readThrough },
    onMalformedUnits: () => void (malformed += 1),
  });
  /** The process is gone, and its lock with it. */
  const killed = (): void => {
    world.waiting = [];
    locked.clear();
  };
  /** No process sees the lock of another, as over some network file systems. */
  const unlocked = (): void => locked.clear();
  /** A process that starts then. @param allDone it gets to the end */
  const next = async (allDone = true): Promise<void> => {
    const delivery = {
      ...{ store, clock: new StoreClock(clock), portion: new PortionSize(), logger },
      keysPerAccountHour: 200,
    };
    let looked = false;
    const stop = replayAbandoned(
      {
        ...delivery,
        dir: folder,
        own: 'own',
        lock,
        timers: { after: () => ((looked = true), () => undefined) },
      },
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
      ...{ bytesIn: sum('bytesIn'), bytesOut: sum('bytesOut'), units: sum('units') },
    };
  };
  return {
    recorder,
    world,
    unlocked,
    setAside,
    said,
    malformed: () => malformed,
    killed,
    next,
    usageOf,
    folder,
  };
}
