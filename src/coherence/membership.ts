import type { Clock } from '../ports/clock.ts';
import type { CoherenceLog, ReplicaReading, ReplicaRow } from '../ports/coherence-log.ts';
import type { Timers } from '../ports/timers.ts';
import type { Timing } from './timing.ts';
import { within } from './within.ts';

/** Who decides, as far as the store shows. */
export interface Count extends ReplicaReading {
  /** Whether `rows` has every replica: a restored database does not show leases given before it was restored. */
  readonly complete: boolean;
  /** The longest lease that may be running, in milliseconds. */
  readonly longestLeaseMs: number;
}

interface Sighting {
  readonly nonce: string;
  /** When this nonce was first seen, on this replica's monotonic clock. */
  readonly sinceMs: number;
}

/**
 * Counts the replicas, takes away the rows of dead ones, and adopts a new incarnation once every lease of an
 * earlier one has run out. All by this replica's own monotonic clock; no wall clock is used.
 */
export class Census {
  readonly #log: CoherenceLog;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #timing: Timing;
  #sightings = new Map<string, Sighting>();
  #strange: { readonly incarnation: string; readonly sinceMs: number } | undefined;
  /** Ever seen: an earlier incarnation may have given leases that no row shows any more. */
  #longestLeaseMs: number;
  #last: Count | undefined;

  constructor(log: CoherenceLog, clock: Clock, timers: Timers, timing: Timing) {
    this.#log = log;
    this.#clock = clock;
    this.#timers = timers;
    this.#timing = timing;
    this.#longestLeaseMs = timing.leaseMs;
  }

  /** The last count, however old. */
  get last(): Count | undefined {
    return this.#last;
  }

  /** Counts, in a snapshot taken later than this call. Rejects where the store does not respond. */
  async read(): Promise<Count> {
    const reading = await within(this.#timers, this.#timing.stepMs, this.#log.replicas());
    const registeredMs = Math.max(this.#timing.leaseMs, ...reading.rows.map((row) => row.leaseMs));
    this.#longestLeaseMs = Math.max(this.#longestLeaseMs, registeredMs);
    const dead = this.#sight(reading.rows);
    if (dead.length > 0) await this.#collect(dead);
    const complete = await this.#complete(reading);
    this.#last = { ...reading, complete, longestLeaseMs: complete ? registeredMs : this.#longestLeaseMs };
    return this.#last;
  }

  /** Notes every nonce. Returns the rows whose nonce stayed the same for longer than their lease can last. */
  #sight(rows: readonly ReplicaRow[]): ReplicaRow[] {
    const now = this.#clock.monotonicMs();
    const before = this.#sightings;
    this.#sightings = new Map();
    return rows.filter(({ id, nonce, leaseMs }) => {
      const known = before.get(id);
      const sighting = known?.nonce === nonce ? known : { nonce, sinceMs: now };
      this.#sightings.set(id, sighting);
      return now - sighting.sinceMs > this.#timing.leaseWaitMs(leaseMs);
    });
  }

  /** A replica that came back meanwhile has another nonce, and keeps its row. */
  async #collect(dead: readonly ReplicaRow[]): Promise<void> {
    for (const { id, nonce } of dead) {
      await within(this.#timers, this.#timing.stepMs, this.#log.removeReplica(id, nonce)).catch(
        () => undefined,
      );
    }
  }

  async #complete({ incarnation, adopted }: ReplicaReading): Promise<boolean> {
    if (adopted) {
      this.#strange = undefined;
      return true;
    }
    const now = this.#clock.monotonicMs();
    if (this.#strange?.incarnation !== incarnation) this.#strange = { incarnation, sinceMs: now };
    if (now - this.#strange.sinceMs <= this.#timing.leaseWaitMs(this.#longestLeaseMs)) return false;
    await within(this.#timers, this.#timing.stepMs, this.#log.adopt(incarnation)).catch(() => undefined);
    return true;
  }
}
