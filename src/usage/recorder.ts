import { hourMs, sumOfUnits, type UsedBy } from '../domain/usage.ts';
import type { Clock } from '../ports/clock.ts';
import type { Seq } from '../ports/facts.ts';
import type { Timers } from '../ports/timers.ts';
import { within } from '../timing/within.ts';
import type { CountedKind, CountedRequest, UsageSink, UsageStore } from '../ports/usage.ts';
import { addCounts, newRow, OpenBatch, type OpenRow } from './journal/batch.ts';
import { JournalHealth } from './journal/health.ts';
import type { Journal } from './journal/journal.ts';
import { PendingBatches } from './pending-batches.ts';
import { PortionSize } from './portion-size.ts';
import { StoreClock } from './store-clock.ts';
import type { Logger } from 'pino';

export interface UsageRecorderParts {
  readonly store: Pick<UsageStore, 'add' | 'about'>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly timers: Timers;
  /** @see UsageBatch.keysPerAccountHour */
  readonly keysPerAccountHour: number;
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>;
  /** Name of this machine or pod. */
  readonly host: string;
  /** Returns the log position through which this process has read; `null` if unknown. @see UsageBatch.readThrough */
  readonly readThrough?: () => Seq | null;
  /** Called for every usage row that is dropped because the store always rejects it. */
  readonly onSetAside?: () => void;
  /** Called for every request that is not counted because neither memory nor disk has room for another row. */
  readonly onLost?: () => void;
  /** Called for every response whose units cannot be read. */
  readonly onMalformedUnits?: () => void;
}

/** Milliseconds between deliveries of counts to the store. */
const flushMs = 2_000;
/** Milliseconds after which a process without new counts tells the store that it has none. */
const idleMs = 10_000;
/** Milliseconds between attempts to add the last counts while the process stops. */
const tryAgainMs = 500;
/**
 * Number of rows at which a batch is sealed even if an earlier batch is pending. The rows of the sealed batch are then
 * kept only on disk.
 */
const mostRows = 20_000;
/** Milliseconds between two log lines about malformed units. */
const sayAgainMs = 60_000;
/** Maximum number of rows in memory (about 50 MB) while the journal cannot be written. */
const mostRowsInMemory = 200_000;

/**
 * Counts requests and adds the counts to the store at intervals. A count is written to the journal before its request
 * is forwarded, and stays there until the store has it. While the journal cannot be written, counts are only in memory.
 */
export class UsageRecorder implements UsageSink {
  readonly #parts: UsageRecorderParts;
  readonly #clock: StoreClock;
  readonly #pending: PendingBatches;
  readonly #health: JournalHealth;
  readonly #collectors = new Set<() => void>();
  #batch = new OpenBatch();
  /** Start of the hour that transferred bytes are counted in; `null` before the first {@link #collect}. */
  #bytesHourMs: number | null = null;
  #storeId: string | null = null;
  /** Whether the open batch has {@link mostRows} rows on disk and must be sealed before the next request is counted. */
  #full = false;
  /** Whether the journal is new and has not been announced to the store yet. */
  #isNewJournal = false;
  #stopped = false;
  /** Monotonic time until which malformed units are not logged again. */
  #quietUntilMs = -Infinity;
  #callOff: () => void = () => undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(parts: UsageRecorderParts) {
    this.#parts = parts;
    this.#clock = new StoreClock(parts.clock);
    this.#health = new JournalHealth(parts.clock, parts.logger);
    this.#pending = new PendingBatches({ ...parts, clock: this.#clock, portion: new PortionSize() });
  }

  count(by: UsedBy, kind: CountedKind): CountedRequest {
    if (this.#full) this.#seal();
    const nowMs = this.#clock.nowMs();
    const row = this.#row(by, hourOf(nowMs));
    if (row.index === lost) this.#parts.onLost?.();
    row.requests += 1;
    if (kind === 'read') row.reads += 1;
    else row.writes += 1;
    if (kind === 'write-by-default') {
      row.writesByDefault += 1;
      row.lastWriteByDefaultMs = nowMs;
    }
    row.lastUsedMs = nowMs;
    this.#note(row);
    return row;
  }

  takeBack(counted: CountedRequest, kind: CountedKind): void {
    // The request was counted in this iteration of the event loop, so its batch is still open.
    const row = this.#batch.find(counted, counted.hourMs);
    if (row === undefined) return;
    row.requests -= 1;
    if (kind === 'read') row.reads -= 1;
    else row.writes -= 1;
    if (kind === 'write-by-default') row.writesByDefault -= 1;
    this.#note(row);
  }

  commit(): void {
    if (!this.#parts.journal.writable) return;
    try {
      this.#parts.journal.write(this.#batch);
      this.#full = this.#batch.rows.length >= mostRows;
    } catch (error) {
      this.#health.failed(error);
    }
  }

  noteOutcome(counted: CountedRequest, status: number): void {
    const row = this.#row(counted, counted.hourMs);
    if (status >= 500) row.serverErrors += 1;
    else if (status >= 400) row.clientErrors += 1;
    row.lastUsedMs = this.#clock.nowMs();
    this.#note(row);
  }

  noteBytes(counted: CountedRequest, bytesIn: number, bytesOut: number): void {
    const row = this.#row(counted, this.#bytesHourMs ?? hourOf(this.#clock.nowMs()));
    row.bytesIn += bytesIn;
    row.bytesOut += bytesOut;
    this.#note(row);
  }

  noteUnits(counted: CountedRequest, units: number): void {
    const row = this.#row(counted, counted.hourMs);
    row.units = sumOfUnits(row.units, units);
    this.#note(row);
  }

  noteMalformedUnits(route: string): void {
    const { clock, logger, onMalformedUnits } = this.#parts;
    onMalformedUnits?.();
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = nowMs + sayAgainMs;
    logger.warn(
      { route },
      'a response states units that are no whole number (usage.units_header): they count as 0',
    );
  }

  touch(by: UsedBy): void {
    const nowMs = this.#clock.nowMs();
    // Even a row without requests tells the store when the key was last used.
    const row = this.#row(by, hourOf(nowMs));
    row.lastUsedMs = nowMs;
    this.#note(row);
  }

  onCollect(listener: () => void): () => void {
    this.#collectors.add(listener);
    return () => void this.#collectors.delete(listener);
  }

  /**
   * Opens the journal and announces this process to the store, so that reports wait for its counts. Then starts adding
   * counts at intervals. Rejects without starting if the store cannot be reached.
   *
   * @returns id of the store
   */
  async begin(): Promise<string> {
    const { store } = this.#parts;
    const { id } = await this.#clock.during(() => store.about());
    this.#storeId = id;
    await this.#takeUpJournal();
    await this.#pending.announce(this.#certainMs());
    this.#schedule();
    return id;
  }

  /**
   * Time before which this process will count no more requests, milliseconds since 1970. It is a second ago: an
   * estimate of the store's clock may be half a second off either way, so the next estimate may be a second earlier
   * than this one.
   */
  #certainMs(): number {
    return this.#clock.nowMs() - 1_000;
  }

  /** Milliseconds by which the counts in the store lag behind this process's counts; 0 before {@link begin}. */
  lagMs(): number {
    const { throughMs } = this.#pending;
    return throughMs === 0 ? 0 : Math.max(0, this.#clock.nowMs() - throughMs);
  }

  /** Whether journal writes are failing or failed a moment ago. Some counts are then only in memory. */
  get unwritable(): boolean {
    return this.#health.unwritable;
  }

  /**
   * Adds the remaining counts to the store and announces that no more will follow. Retries both while the store cannot
   * be reached. Must be called after the last request has been counted.
   *
   * @param untilMs monotonic time in milliseconds at which the attempts end, also one that hangs; 0 for one attempt
   * @returns number of requests whose counts the store still lacks
   */
  async stop(untilMs = 0): Promise<number> {
    const { clock, timers, journal } = this.#parts;
    this.#stopped = true;
    this.#callOff();
    const adding = this.#addRest(untilMs);
    // The listeners may have drained for longer; a store that responds takes less than these 100 ms.
    const leftMs = Math.max(100, untilMs - clock.monotonicMs());
    await (untilMs === 0 ? adding : within(timers, leftMs, adding).catch(() => undefined));
    const left = this.#pending.requests + requestsOf(this.#batch.rows);
    await journal.close(this.#pending.throughMs === Infinity);
    return left;
  }

  /** Folder with the counts that {@link stop} could not add; `null` if they are only in memory. */
  get journalFolder(): string | null {
    return this.unwritable ? null : this.#parts.journal.folder;
  }

  /**
   * Adds all counts up to this call, and none of later requests, to the store. If that fails, they stay in the journal.
   */
  async deliver(): Promise<void> {
    this.#seal();
    await (this.#flushing = this.#flushing.then(() => {
      this.#callOff();
      return this.#stopped ? undefined : this.#tick(false);
    }));
  }

  async #addRest(untilMs: number): Promise<void> {
    const { clock, timers } = this.#parts;
    if (this.#pending.throughMs === 0) return;
    await this.#flushing;
    this.#collect();
    this.#seal();
    for (;;) {
      await this.#pending.deliver();
      if (this.#pending.size === 0) await this.#pending.tryToAnnounce(Infinity);
      if (this.#pending.throughMs === Infinity || clock.monotonicMs() + tryAgainMs > untilMs) break;
      await new Promise<void>((resolve) => void timers.after(tryAgainMs, resolve));
    }
  }

  #row(by: UsedBy, hour: number): OpenRow {
    const present = this.#batch.find(by, hour);
    if (present !== undefined) return present;
    if (this.#batch.rows.length >= mostRowsInMemory) return newRow(by, hour, lost);
    return this.#batch.add(by, hour);
  }

  #note(row: OpenRow): void {
    if (row.index !== lost) this.#batch.note(row);
  }

  #schedule(): void {
    if (this.#stopped) return;
    const nowMs = this.#clock.nowMs();
    // A tick at the end of each hour ensures that the hour's bytes are counted in that hour.
    const endMs = hourOf(nowMs) + hourMs - nowMs;
    this.#callOff = this.#parts.timers.after(Math.max(1, Math.min(flushMs, endMs)), () => {
      this.#flushing = this.#tick();
    });
  }

  async #tick(seals = true): Promise<void> {
    this.#collect();
    this.#leaveIfTaken();
    if (!this.#parts.journal.writable) await this.#takeUpJournal();
    if (this.#isNewJournal) await this.#pending.tryToAnnounce(this.#pending.throughMs);
    this.#isNewJournal = false;
    this.commit();
    this.#health.look();
    if (seals && this.#pending.size === 0) this.#seal();
    await this.#pending.deliver();
    const isIdle = this.#pending.size === 0 && this.#batch.rows.length === 0 && this.lagMs() >= idleMs;
    if (isIdle) await this.#pending.tryToAnnounce(this.#certainMs());
    this.#schedule();
  }

  /**
   * Makes the requests in progress report the bytes that they have transferred since the previous call. These bytes are
   * counted in the hour of the previous call.
   */
  #collect(): void {
    const hour = hourOf(this.#clock.nowMs());
    this.#bytesHourMs ??= hour;
    for (const collect of this.#collectors) collect();
    this.#bytesHourMs = hour;
  }

  /** Seals the open batch. If an earlier batch is pending and the journal is writable, the rows stay only on disk. */
  #seal(): void {
    this.commit();
    this.#leaveIfTaken();
    const { rows } = this.#batch;
    if (rows.length === 0) return;
    const { journal } = this.#parts;
    const onDisk = journal.writable && this.#pending.size > 0;
    const number = journal.seal(rows);
    const requests = requestsOf(rows);
    const readThrough = this.#parts.readThrough?.() ?? null;
    this.#pending.add({
      number,
      rows: onDisk ? null : rows,
      requests,
      throughMs: this.#certainMs(),
      readThrough,
    });
    this.#batch = new OpenBatch();
    this.#full = false;
  }

  /**
   * Goes on with a new journal if another process has taken this one. That process adds the counts that it has taken
   * from the files; see {@link Journal.takenRows}. All other counts go into the new open batch.
   */
  #leaveIfTaken(): void {
    const { journal, logger } = this.#parts;
    const taken = journal.takenRows();
    if (taken === null) return;
    const rest = new OpenBatch();
    for (const row of this.#batch.rows) addCounts(rest, row, taken[row.index]);
    for (const row of this.#pending.leave()) addCounts(rest, row, undefined);
    this.#batch = rest;
    const { folder } = journal;
    journal.leave();
    this.#isNewJournal = true;
    logger.warn(
      { folder },
      'another process has taken the usage journal; this one goes on with a new journal',
    );
  }

  async #takeUpJournal(): Promise<void> {
    const { journal } = this.#parts;
    try {
      await journal.open(this.#storeId ?? '');
      journal.takeUp(this.#batch);
    } catch (error) {
      this.#health.failed(error);
    }
  }
}

function requestsOf(rows: readonly OpenRow[]): number {
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

/** Index of a row that is kept nowhere, because neither memory nor disk has room. Its counts are lost. */
const lost = -1;

function hourOf(ms: number): number {
  return Math.floor(ms / hourMs) * hourMs;
}
