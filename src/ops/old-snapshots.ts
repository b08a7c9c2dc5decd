import type { Registry } from 'prom-client';
import { repeat } from '../coherence/repeat.ts';
import type { Clock } from '../ports/clock.ts';
import type { OldSnapshots, SnapshotHolder } from '../ports/old-snapshots.ts';
import type { Timers } from '../ports/timers.ts';
import { gauge } from './metrics.ts';

export interface OldSnapshotParts {
  readonly source: OldSnapshots;
  /** Under what id this process is registered; `null` before it is. */
  readonly replicaId: () => string | null;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: { warn(fields: object, message: string): void };
}

const everyMs = 30_000;
/** From this age on the log names what holds the snapshot, before the alert of the chart asks for it. */
const toldAfterMs = 30 * 60_000;
/** Two days of looks: an age beyond that is shown as two days, unless the database tells it. */
const mostLooks = 5_760;

/**
 * Shows how old the oldest snapshot in the database is: what it keeps from being cleared away costs each statement that
 * reads past it. One replica looks; the others show 0, and remember the numbers of transactions for when they take over.
 *
 * @returns how to stop
 */
export function watchOldSnapshots(parts: OldSnapshotParts): () => void {
  const { registry, timers } = parts;
  const ages = new TransactionAges();
  let shownMs = 0;
  let told: string | undefined;
  gauge(
    registry,
    'oldest_snapshot_seconds',
    'Age of the oldest snapshot that keeps dead rows in the database; one replica looks, the others show 0.',
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
 * Says how long ago a transaction was, by when later ones were first seen: the database does not tell every role. What
 * was before the first look is as old as that look.
 */
class TransactionAges {
  /** In order. */
  readonly #looks: { readonly next: number; readonly atMs: number }[] = [];

  note(next: number, atMs: number): void {
    this.#looks.push({ next, atMs });
    if (this.#looks.length > mostLooks) this.#looks.shift();
  }

  /** Milliseconds since the first look after it, at least. Looks before that are forgotten: what is oldest never gets older. */
  sinceAfter(transaction: number, nowMs: number): number {
    while ((this.#looks[0]?.next ?? Infinity) <= transaction) this.#looks.shift();
    return nowMs - (this.#looks[0]?.atMs ?? nowMs);
  }

  /** Nothing is held: no look is needed any more. */
  forget(): void {
    this.#looks.length = 0;
  }
}
