import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ProblemError } from '../../domain/problem.ts';
import type { UsageRow } from '../../domain/usage.ts';
import type { Timers } from '../../ports/timers.ts';
import { deliver, type DeliveryParts } from '../delivery.ts';
import { rowsOf, UnknownFormat } from './batch.ts';
import { isJournal, numberOf, type LockFolder } from './journal.ts';
import { beforeMark, markTaken } from './taken.ts';
import type { Logger } from 'pino';

export interface AbandonedParts extends DeliveryParts {
  /** Folder of all journals. */
  readonly dir: string;
  /** Name of this process's journal. */
  readonly own: string;
  readonly lock: LockFolder;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>;
}

/** Milliseconds between searches for journals of dead processes. */
const lookMs = 60_000;
/** Milliseconds between a failed search and the next one. */
const tryAgainMs = 5_000;

/**
 * Adds the rows in dead processes' journals to the store, now and at intervals. The store recognises rows that it
 * already has by their numbers. So another process can finish the work if this process is killed.
 *
 * @param storeId id of the store; journals for other stores are left alone
 * @returns a function that stops the search and waits for work in progress
 */
export function replayAbandoned(parts: AbandonedParts, storeId: string): () => Promise<void> {
  let stopped = false;
  let callOff: () => void = () => undefined;
  const look = async (): Promise<void> => {
    let again = lookMs;
    try {
      await replayAll(parts, join(parts.dir, storeId), () => stopped);
    } catch (err) {
      again = tryAgainMs;
      parts.logger.warn({ err }, 'usage journals of dead processes cannot be replayed; it is tried again');
    }
    if (!stopped) callOff = parts.timers.after(again, () => void (looking = look()));
  };
  let looking = look();
  return async () => {
    stopped = true;
    callOff();
    await looking;
  };
}

async function replayAll(parts: AbandonedParts, folder: string, stopped: () => boolean): Promise<void> {
  for (const journal of await entriesOf(folder)) {
    if (stopped()) return;
    const path = join(folder, journal);
    try {
      if (journal !== parts.own && (await isJournal(path)))
        await replayUnlessLocked(parts, path, journal, stopped);
    } catch (err) {
      // The store cannot be reached, so the other journals have to wait too.
      if (err instanceof ProblemError) throw err;
      const why =
        err instanceof UnknownFormat
          ? 'was written by another version'
          : 'of a dead process cannot be replayed';
      parts.logger.error({ err, journal: path }, `a usage journal ${why}, and is left`);
    }
  }
}

async function replayUnlessLocked(
  parts: AbandonedParts,
  path: string,
  journal: string,
  stopped: () => boolean,
): Promise<void> {
  const lock = await parts.lock(path);
  if (lock === null) return;
  try {
    await replay(parts, path, journal, stopped);
  } finally {
    await lock.release();
  }
}

/**
 * Adds the rows of a journal to the store in order, then removes the journal. Once `stopped` returns true, the
 * remaining files are left to the next process.
 */
async function replay(
  parts: AbandonedParts,
  path: string,
  journal: string,
  stopped: () => boolean,
): Promise<void> {
  const files = (await entriesOf(path)).filter((file) => numberOf(file) !== undefined).sort();
  let requests = 0;
  for (const file of files) {
    if (stopped()) return;
    const rows = await takeRows(join(path, file));
    await deliver(parts, { journal, number: numberOf(file) as number, rows, throughMs: null });
    for (const row of rows) requests += row.requests;
    await rm(join(path, file), { force: true });
  }
  const { keysPerAccountHour } = parts;
  await parts.clock.during(() =>
    parts.store.add({ journal, from: 0, to: 0, rows: [], keysPerAccountHour, throughMs: Infinity }),
  );
  await rm(path, { recursive: true, force: true });
  parts.logger.info({ journal, requests }, 'the usage journal of a dead process was replayed');
}

/**
 * Marks a file as taken and returns its rows. If the owner is alive, it notices the mark. @throws {UnknownFormat}
 * before the file is marked
 */
async function takeRows(path: string): Promise<UsageRow[]> {
  const text = await readFile(path, 'latin1');
  const rows = rowsOf(beforeMark(text));
  if (beforeMark(text) !== text) return rows;
  await markTaken(path);
  // An owner that is alive may have added rows before the mark, so the file is read again.
  return rowsOf(beforeMark(await readFile(path, 'latin1')));
}

/** Lists a folder. The list is empty if the folder does not exist. */
async function entriesOf(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
