import type { Registry } from 'prom-client';
import { repeat } from '../timing/repeat.ts';
import type { Clock } from '../ports/clock.ts';
import type { OldSnapshots, SnapshotHolder } from '../ports/old-snapshots.ts';
import type { Timers } from '../ports/timers.ts';
import { gauge } from './metrics.ts';

export interface OldSnapshotParts {
  readonly source: OldSnapshots;
  /** Id that this process is registered under; `null` until it is registered. */
  readonly replicaId: () => string | null;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: { warn(fields: object, message: string): void };
}

const everyMs = 30_000;
/**
 * If a snapshot is at least this many milliseconds old, the log names its holder. The alert in the Helm chart fires
 * later and refers to that log line.
 */
const toldAfterMs = 30 * 60_000;
/**
 * Maximum number of checks to remember: two days' worth. If the database does not show the age of a snapshot, the age
 * is estimated from these checks. So an estimate is at most two days.
 */
const mostLooks = 5_760;

/**
 * Exposes the age of the oldest snapshot in the database. An old snapshot keeps dead rows, which slow down the
 * statements that read past them. One replica measures the age. The others show 0, but record transaction ids. If one
 * of them takes over, it estimates ages from its own record.
 *
 * @returns function that stops the checks
 */
export function watchOldSnapshots(parts: OldSnapshotParts): () => void {
  const { registry, timers } = parts;
  const ages = new TransactionAges();
  let shownMs = 0;
  let told: string | undefined;
  gauge(
    registry,
    'oldest_snapshot_seconds',
    'Age of the oldest snapshot that keeps dead rows in the database; one replica measures it, the others show 0.',
    () => shownMs / 1000,
  );

  async function look(): Promise<void> {
    const replica = parts.replicaId();
    if (replica === null) return;
    const { nextTransaction, looked, oldest } = await parts.source.read(replica);
    const nowMs = parts.clock.monotonicMs();
    ages.note(nextTransaction, nowMs);
    shownMs = oldest === null ? 0 : ageOf(oldest, nowMs);
    if (looked && oldest === null) ages.forget();
    if (oldest === null || shownMs < toldAfterMs) told = undefined;
    else tell(oldest);
  }

  function ageOf({ transaction, ageMs }: SnapshotHolder, nowMs: number): number {
    return Math.max(ages.sinceAfter(transaction, nowMs), ageMs ?? 0);
  }

  function tell({ kind, name, user, application }: SnapshotHolder): void {
    if (told === `${kind} ${name}`) return;
    told = `${kind} ${name}`;
    parts.logger.warn(
      { kind, name, user, application, age_s: Math.round(shownMs / 1000) },
      'an old snapshot keeps dead rows in the database',
    );
  }

  return repeat(timers, everyMs, look);
}

/**
 * Estimates the age of a transaction: the time since a later transaction was first seen. The estimate is needed because
 * some database roles may not see when a transaction began. A transaction that began before the first check is taken to
 * be as old as that check.
 */
class TransactionAges {
  /** Checks in chronological order. `next` is the id of the next transaction at the time of the check. */
  readonly #looks: { readonly next: number; readonly atMs: number }[] = [];

  note(next: number, atMs: number): void {
    this.#looks.push({ next, atMs });
    if (this.#looks.length > mostLooks) this.#looks.shift();
  }

  /**
   * Returns the minimum age of a transaction in milliseconds: the time since the first check after the transaction
   * began. Drops earlier checks, because later calls never ask about an older transaction.
   */
  sinceAfter(transaction: number, nowMs: number): number {
    while ((this.#looks[0]?.next ?? Infinity) <= transaction) this.#looks.shift();
    return nowMs - (this.#looks[0]?.atMs ?? nowMs);
  }

  forget(): void {
    this.#looks.length = 0;
  }
}
