import type { AccountId, KeyId } from '../domain/ids.ts';
import { hourMs, type UsageRow } from '../domain/usage.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timers } from '../ports/timers.ts';
import { UnusableUsage, type UsageEvent, type UsageSink, type UsageStore } from '../ports/usage.ts';
import type { Logger } from 'pino';

export interface UsageRecorderParts {
  readonly store: Pick<UsageStore, 'add'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>;
  /** Fresh random text, never the same again. */
  readonly randomId: () => string;
  /** Told of every row that the store can never add. */
  readonly onSetAside?: () => void;
}

/** How often counts are added to the store while there are any, and how often it hears that there are none. */
const flushMs = 2_000;
const idleMs = 10_000;
const rowsPerBatch = 2_000;

type Counts = { -readonly [field in keyof UsageRow]: UsageRow[field] };

/** What was counted of one key. Most keys only ever act as one account, so a map of accounts is rarely made. */
interface Tally {
  readonly first: Counts;
  others: Map<AccountId, Counts> | undefined;
}

interface Batch {
  readonly id: string;
  readonly rows: readonly UsageRow[];
  readonly throughMs: number;
}

/**
 * Counts finished requests in memory and adds them to the store every now and then. A batch keeps its id until the
 * store has it, so that nothing counts twice where the store's response was lost; while a batch waits, counting goes on beside it.
 * A row that the store can never add is set aside: the rows around it, and all that come after, are added without it.
 */
export class UsageRecorder implements UsageSink {
  readonly #parts: UsageRecorderParts;
  readonly #replicaId: string;
  #hour = 0;
  #live = new Map<KeyId, Tally>();
  #rows: Counts[] = [];
  #pending: Batch[] = [];
  #throughMs = 0;
  #failing = false;
  #stopped = false;
  #callOff: () => void = () => undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(parts: UsageRecorderParts) {
    this.#parts = parts;
    this.#replicaId = parts.randomId();
  }

  record({ accountId, keyId, kind, status, bytesIn, bytesOut }: UsageEvent): void {
    const counts = this.#countsOf(keyId, accountId);
    counts.requests += 1;
    if (kind === 'read') counts.reads += 1;
    else counts.writes += 1;
    if (status >= 500) counts.serverErrors += 1;
    else if (status >= 400) counts.clientErrors += 1;
    counts.bytesIn += bytesIn;
    counts.bytesOut += bytesOut;
  }

  touch(accountId: AccountId, keyId: KeyId): void {
    // A row that counts nothing: the store notes the key's use from it.
    this.#countsOf(keyId, accountId);
  }

  /**
   * Announces this replica to the store, so that reports wait for its counts, and begins to add them.
   * Rejects where the store cannot be reached; then nothing has begun.
   */
  async begin(): Promise<void> {
    await this.#flush(this.#parts.clock.wallMs());
    if (this.#pending.length > 0) throw new Error('usage cannot be added to the store');
    this.#schedule();
  }

  /** Milliseconds by which the store is behind; 0 before {@link begin}. */
  lagMs(): number {
    return this.#throughMs === 0 ? 0 : Math.max(0, this.#parts.clock.wallMs() - this.#throughMs);
  }

  /** Adds what is left, and says that there will be no more. To be called once nothing is recorded any longer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#callOff();
    if (this.#throughMs === 0) return;
    await this.#flushing;
    if (this.#pending.length > 0) await this.#flush(this.#parts.clock.wallMs());
    await this.#flush(Infinity);
  }

  #countsOf(keyId: KeyId, accountId: AccountId): Counts {
    const nowMs = this.#parts.clock.wallMs();
    const hour = Math.floor(nowMs / hourMs) * hourMs;
    const counts = this.#rowOf(keyId, accountId, hour);
    counts.lastUsedMs = nowMs;
    return counts;
  }

  #rowOf(keyId: KeyId, accountId: AccountId, hour: number): Counts {
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.#live = new Map();
    }
    const tally = this.#live.get(keyId);
    if (tally?.first.accountId === accountId) return tally.first;
    const present = tally?.others?.get(accountId);
    if (present !== undefined) return present;
    const counts = newCounts(accountId, keyId, hour);
    this.#rows.push(counts);
    if (tally === undefined) this.#live.set(keyId, { first: counts, others: undefined });
    else (tally.others ??= new Map<AccountId, Counts>()).set(accountId, counts);
    return counts;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#callOff = this.#parts.timers.after(flushMs, () => {
      this.#flushing = this.#tick();
    });
  }

  async #tick(): Promise<void> {
    const due = this.#rows.length > 0 || this.#pending.length > 0 || this.lagMs() >= idleMs;
    if (due) await this.#flush(this.#parts.clock.wallMs());
    this.#schedule();
  }

  async #flush(throughMs: number): Promise<void> {
    if (this.#pending.length === 0) this.#seal(throughMs);
    const { store, logger } = this.#parts;
    try {
      for (let batch = this.#pending[0]; batch !== undefined; batch = this.#pending[0]) {
        try {
          await store.add(batch.id, batch.rows, this.#replicaId, batch.throughMs);
        } catch (error) {
          if (!(error instanceof UnusableUsage) || batch.rows.length === 0) throw error;
          this.#pending.splice(0, 1, ...this.#without(batch, error));
          continue;
        }
        this.#throughMs = batch.throughMs;
        this.#pending.shift();
      }
      if (this.#failing) logger.info('usage is added to the store again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        logger.warn({ err: error }, 'usage cannot be added to the store; it is kept and tried again');
      this.#failing = true;
    }
  }

  /** What to add in place of a batch that was rejected: its halves, until the row is alone that cannot be added. */
  #without({ rows, throughMs }: Batch, err: UnusableUsage): Batch[] {
    const { logger, randomId, onSetAside } = this.#parts;
    const [row] = rows;
    if (row !== undefined && rows.length === 1) {
      logger.error(
        { err, row },
        'usage that the store can never add is set aside; the row says what is missing',
      );
      onSetAside?.();
      // Without rows it still says how far this replica has got.
      return [{ id: randomId(), rows: [], throughMs }];
    }
    const half = Math.ceil(rows.length / 2);
    return [
      { id: randomId(), rows: rows.slice(0, half), throughMs: this.#throughMs },
      { id: randomId(), rows: rows.slice(half), throughMs },
    ];
  }

  /** Everything counted so far becomes batches; only the last of them moves the report on. */
  #seal(throughMs: number): void {
    const rows = this.#rows;
    this.#rows = [];
    this.#live = new Map();
    const last = Math.max(1, Math.ceil(rows.length / rowsPerBatch));
    for (let i = 1; i <= last; i++) {
      this.#pending.push({
        id: this.#parts.randomId(),
        rows: rows.slice((i - 1) * rowsPerBatch, i * rowsPerBatch),
        throughMs: i === last ? throughMs : this.#throughMs,
      });
    }
  }
}

/** Written out: an object made by spreading another one takes more than twice the memory. */
function newCounts(accountId: AccountId, keyId: KeyId, hour: number): Counts {
  return {
    accountId,
    keyId,
    hourMs: hour,
    lastUsedMs: 0,
    requests: 0,
    reads: 0,
    writes: 0,
    clientErrors: 0,
    serverErrors: 0,
    bytesIn: 0,
    bytesOut: 0,
  };
}
