import type { Barrier, Receipt } from '../ports/barrier.ts';
import type { Clock } from '../ports/clock.ts';
import { reachMs, type ReplicaRow } from '../ports/coherence-log.ts';
import type { Seq } from '../ports/facts.ts';
import type { Timers } from '../ports/timers.ts';
import type { Members, Membership } from './membership.ts';
import type { CoherenceEvents } from './events.ts';
import type { Lease } from './lease.ts';
import type { Timing } from './timing.ts';
import { unavailable } from './unavailable.ts';
import type { View } from './memory/view.ts';
import { within } from '../timing/within.ts';

export interface BarrierParts {
  readonly membership: Pick<Membership, 'read'>;
  readonly lease: Pick<Lease, 'id' | 'caughtUp' | 'streamsEnded'>;
  readonly view: Pick<View, 'applied' | 'incarnation'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly timing: Timing;
  readonly events: CoherenceEvents;
}

/** A committed mutation whose client still waits for the response. */
interface Writer {
  readonly seq: Seq;
  /** Time at which this replica learned of the commit, in milliseconds on the monotonic clock. */
  readonly sinceMs: number;
  /** History (incarnation) that the mutation belongs to. */
  readonly incarnation: string;
  /**
   * Newest reading of the members after the commit. `pending` holds the rows of members that have not confirmed the
   * mutation yet.
   */
  seen: { readonly members: Members; readonly pending: readonly ReplicaRow[] } | undefined;
  /** Number of replicas whose rows were deleted because their leases ran out before they confirmed the mutation. */
  timedOut: number;
  resolve(receipt: Receipt): void;
  reject(error: unknown): void;
}

/**
 * Shortest pause between two reads of the member list, in milliseconds. A pause lasts a quarter of the time for which
 * the newest writer has been waiting, but at least this long.
 */
const shortestPauseMs = 1;
/**
 * Longest pause between two reads of the member list, in milliseconds. A round also waits at most this long for this
 * replica to apply the mutations.
 */
const longestPauseMs = 50;

/**
 * Makes each writer wait until no replica can decide from facts that are older than the writer's mutation. A single
 * loop reads the member list for all writers.
 */
export class CommitBarrier implements Barrier {
  readonly #parts: BarrierParts;
  readonly #writers = new Set<Writer>();
  #polling = false;
  #wake: () => void = () => undefined;

  constructor(parts: BarrierParts) {
    this.#parts = parts;
  }

  enforced(seq: Seq, incarnation: string): Promise<Receipt> {
    const { clock } = this.#parts;
    return new Promise((resolve, reject) => {
      const sinceMs = clock.monotonicMs();
      this.#writers.add({ seq, sinceMs, incarnation, seen: undefined, timedOut: 0, resolve, reject });
      this.#wake();
      if (!this.#polling) void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    this.#polling = true;
    while (this.#writers.size > 0) {
      await this.#round();
      if (this.#writers.size > 0) await this.#pause();
    }
    this.#polling = false;
  }

  async #round(): Promise<void> {
    // A reading of the members may lack a mutation that was committed after the reading began. So a writer that arrives
    // during this round waits for the next reading.
    const asked = [...this.#writers];
    try {
      const [members] = await Promise.all([this.#parts.membership.read(), this.#catchUp(asked)]);
      for (const writer of asked) this.#check(writer, members);
    } catch (error) {
      for (const writer of asked) this.#checkWithoutStore(writer, error);
    }
  }

  /**
   * Lets this replica apply the writers' mutations while the member list is being read. This replica then counts as
   * having confirmed them (`#isOwnAndThere`). So if there is no other replica, one reading of the list is enough.
   */
  async #catchUp(asked: readonly Writer[]): Promise<void> {
    const { lease, view, timers } = this.#parts;
    if (asked.every(({ seq }) => seq <= view.applied)) return;
    await within(timers, longestPauseMs, lease.caughtUp()).catch(() => undefined);
  }

  #check(writer: Writer, members: Members): void {
    if (members.incarnation !== writer.incarnation || members.seq < writer.seq) {
      // The store now has a different history, which may not include the mutation.
      this.#done(writer).reject(unavailable());
      return;
    }
    const pending = members.rows.filter((row) => row.acked < writer.seq && !this.#isOwnAndThere(row, writer));
    writer.timedOut += this.#timedOut(writer, members);
    writer.seen = { members, pending };
    if ((members.complete && pending.length === 0) || this.#leasesHaveEnded(writer)) this.#confirm(writer);
  }

  /**
   * Returns how many pending replicas have lost their rows because their leases ran out. A missing row counts if, when
   * last read, it had not been renewed for more than half its lease. Otherwise the replica has probably shut down and
   * deleted the row itself.
   */
  #timedOut({ seen }: Writer, { rows }: Members): number {
    const gone = seen?.pending.filter(({ id }) => rows.every((row) => row.id !== id)) ?? [];
    return gone.filter(({ ageMs, leaseMs }) => ageMs > leaseMs / 2).length;
  }

  #checkWithoutStore(writer: Writer, error: unknown): void {
    if (!this.#leasesHaveEnded(writer)) return;
    // This replica has not read the members since the commit. It therefore does not know the longest lease, and cannot
    // confirm the mutation.
    if (writer.seen === undefined) this.#done(writer).reject(unavailable(error));
    else this.#confirm(writer);
  }

  /**
   * Whether the row belongs to this replica, and this replica has already applied the mutation. The mutation then
   * counts as confirmed, even if the row does not show this yet.
   */
  #isOwnAndThere(row: ReplicaRow, { seq, incarnation }: Writer): boolean {
    const { lease, view } = this.#parts;
    return row.id === lease.id && view.incarnation === incarnation && view.applied >= seq;
  }

  /** Whether all leases from before the commit have run out, and all that hung on them has ended. */
  #leasesHaveEnded({ sinceMs, seen }: Writer): boolean {
    const { clock, timing } = this.#parts;
    const longestMs = seen?.members.longestReachMs ?? reachMs(timing);
    return clock.monotonicMs() - sinceMs > timing.leaseWaitMs(longestMs);
  }

  #confirm(writer: Writer): void {
    const { rows } = writer.seen?.members ?? { rows: [] };
    const timedOut = (writer.seen?.pending.length ?? 0) + writer.timedOut;
    const ms = this.#parts.clock.monotonicMs() - writer.sinceMs;
    this.#parts.events.barrierWait?.(ms, timedOut);
    this.#done(writer).resolve({
      replicas: rows.length + writer.timedOut,
      timedOut,
      streamsClosed: rows.reduce((sum, row) => sum + this.#endedBy(row, writer), 0),
      ms,
    });
  }

  /** Number of streams that a replica has ended for a mutation, as far as this replica knows. */
  #endedBy(row: ReplicaRow, writer: Writer): number {
    if (row.acked >= writer.seq) return row.streamsClosed;
    return this.#isOwnAndThere(row, writer) ? this.#parts.lease.streamsEnded : 0;
  }

  #done(writer: Writer): Writer {
    this.#writers.delete(writer);
    return writer;
  }

  #pause(): Promise<void> {
    const { clock, timers } = this.#parts;
    const youngest = Math.max(...[...this.#writers].map((writer) => writer.sinceMs));
    const ms = Math.min(Math.max((clock.monotonicMs() - youngest) / 4, shortestPauseMs), longestPauseMs);
    return new Promise((resolve) => {
      const cancel = timers.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
