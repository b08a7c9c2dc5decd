import type { Clock } from '../ports/clock.ts';
import { reachMs, type CoherenceLog, type ReplicaReading, type ReplicaRow } from '../ports/coherence-log.ts';
import type { Timing } from './timing.ts';

/**
 * Replicas that may hold a lease. `complete` means that no replica outside `rows` can hold a lease: either the store
 * has recorded this, or this replica itself has waited until all leases of earlier incarnations had run out.
 */
export interface Members extends ReplicaReading {
  /** Longest lease with its streams that may still be running, in milliseconds; see {@link leaseWaitMs}. */
  readonly longestReachMs: number;
}

interface LastSeen {
  readonly nonce: string;
  /** When this replica first saw the nonce, in milliseconds on its monotonic clock. */
  readonly sinceMs: number;
}

/**
 * Reads the registered replicas, deletes the rows of those that timed out, and notes when all leases of an earlier
 * incarnation have run out. Relies only on this replica's monotonic clock, never on a wall clock.
 */
export class Membership {
  readonly #log: CoherenceLog;
  readonly #clock: Clock;
  readonly #timing: Timing;
  #lastSeen = new Map<string, LastSeen>();
  /**
   * The current incarnation and when this replica first saw it, in milliseconds on the monotonic clock. Set as long as
   * the store cannot rule out leases of earlier incarnations.
   */
  #incomplete: { readonly incarnation: string; readonly sinceMs: number } | undefined;
  /**
   * Longest lease with its streams ever seen, in milliseconds. An earlier incarnation may have granted leases that no
   * row shows any more.
   */
  #longestReachMs: number;
  #last: Members | undefined;

  constructor(log: CoherenceLog, clock: Clock, timing: Timing) {
    this.#log = log;
    this.#clock = clock;
    this.#timing = timing;
    this.#longestReachMs = reachMs(timing);
  }

  /** Latest reading of the members, however old; `undefined` before the first. */
  get last(): Members | undefined {
    return this.#last;
  }

  /** Reads the members from a snapshot taken after this call. Rejects if the store does not respond. */
  async read(): Promise<Members> {
    const reading = await this.#log.replicas();
    const registeredMs = Math.max(...[this.#timing, ...reading.rows].map(reachMs));
    this.#longestReachMs = Math.max(this.#longestReachMs, registeredMs);
    const timedOut = this.#findTimedOut(reading.rows);
    if (timedOut.length > 0) await this.#remove(timedOut);
    const complete = await this.#isComplete(reading);
    this.#last = { ...reading, complete, longestReachMs: complete ? registeredMs : this.#longestReachMs };
    return this.#last;
  }

  /**
   * Remembers every row's nonce. Returns the rows whose nonce has not changed for longer than their lease and streams
   * can last.
   */
  #findTimedOut(rows: readonly ReplicaRow[]): ReplicaRow[] {
    const now = this.#clock.monotonicMs();
    const before = this.#lastSeen;
    this.#lastSeen = new Map();
    return rows.filter((row) => {
      const { id, nonce } = row;
      const known = before.get(id);
      const lastSeen = known?.nonce === nonce ? known : { nonce, sinceMs: now };
      this.#lastSeen.set(id, lastSeen);
      return now - lastSeen.sinceMs > this.#timing.leaseWaitMs(reachMs(row));
    });
  }

  /**
   * Deletes the rows of replicas that timed out. A replica that has come back in the meantime has a new nonce and keeps
   * its row.
   */
  async #remove(timedOut: readonly ReplicaRow[]): Promise<void> {
    for (const { id, nonce } of timedOut) {
      await this.#log.removeReplica(id, nonce).catch(() => undefined);
    }
  }

  async #isComplete({ incarnation, complete }: ReplicaReading): Promise<boolean> {
    if (complete) {
      this.#incomplete = undefined;
      return true;
    }
    const now = this.#clock.monotonicMs();
    if (this.#incomplete?.incarnation !== incarnation) this.#incomplete = { incarnation, sinceMs: now };
    if (now - this.#incomplete.sinceMs <= this.#timing.leaseWaitMs(this.#longestReachMs)) return false;
    await this.#log.noteComplete(incarnation).catch(() => undefined);
    return true;
  }
}
