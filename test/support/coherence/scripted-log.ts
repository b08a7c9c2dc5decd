import { within } from '../../../src/timing/within.ts';
import type {
  CoherenceLog,
  LogReading,
  PrunePortion,
  Renewed,
  ReplicaRegistration,
  ReplicaReading,
  ReplicaRow,
} from '../../../src/ports/coherence-log.ts';
import type { Timers } from '../../../src/ports/timers.ts';

/** By when a response has to come. */
export interface Deadline {
  readonly timers: Timers;
  readonly ms: number;
}

/** Responses that a test may hold back. */
export class HeldResponses {
  #held: (() => void)[] | undefined;
  readonly #deadline: Deadline | undefined;

  /** @param deadline after which a call rejects whose response is held back; none: it waits */
  constructor(deadline?: Deadline) {
    this.#deadline = deadline;
  }

  /** From now on there is no response before {@link release}. */
  hold(): void {
    this.#held ??= [];
  }

  /** Sends the responses that were held back, and holds none back any more. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const response of held) response();
  }

  /** Resolves when a response may be sent. */
  protected async sent(): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    const released = new Promise<void>((resolve) => held.push(resolve));
    await (this.#deadline ? within(this.#deadline.timers, this.#deadline.ms, released) : released);
  }
}

/** A log whose every response the test gives: it tells what was asked, and may hold responses back. */
export class ScriptedLog extends HeldResponses implements CoherenceLog {
  /** What was asked, in order. */
  readonly asked: string[] = [];
  reading: LogReading = { incarnation: 'i', seq: 5, through: 5, floor: 1, entries: [] };
  /** Readings to come before that one: the pages of a catch-up. */
  pages: LogReading[] = [];
  rows: ReplicaRow[] = [];
  complete = true;
  /** What was last confirmed, as the row of this replica shows it. */
  acked = 0;
  /** Its clock. */
  nowMs = 0;
  /** Thrown by everything while it is set. */
  failure: Error | undefined;
  hint: () => void = () => undefined;

  register({ id, nonce, leaseMs }: ReplicaRegistration): Promise<Renewed> {
    return this.#respond(`register ${id} ${nonce} ${leaseMs}`, () => ({
      acked: this.acked,
      nowMs: this.nowMs,
    }));
  }

  readAfter(after: number | null): Promise<LogReading> {
    return this.#respond(
      `read after ${after ?? 'nothing'}`,
      () => this.pages.shift() ?? { ...this.reading, through: this.reading.seq },
    );
  }

  ack(id: string, seq: number, streamsClosed: number): Promise<void> {
    return this.#respond(`ack ${id} ${seq} ${streamsClosed}`, () => {
      this.acked = seq;
    });
  }

  replicas(): Promise<ReplicaReading> {
    return this.#respond('replicas', () => ({
      incarnation: this.reading.incarnation,
      complete: this.complete,
      seq: this.reading.seq,
      rows: this.rows,
    }));
  }

  noteComplete(incarnation: string): Promise<void> {
    return this.#respond(`note complete ${incarnation}`, () => undefined);
  }

  removeReplica(id: string, nonce: string): Promise<void> {
    return this.#respond(`remove ${id} ${nonce}`, () => undefined);
  }

  prune({ before }: PrunePortion): Promise<boolean> {
    return this.#respond(`prune ${before}`, () => false);
  }

  onHint(listener: () => void): void {
    this.hint = listener;
  }

  async #respond<T>(question: string, read: () => T): Promise<T> {
    this.asked.push(question);
    // Seen by the store when it is asked, told when the test lets it.
    const told = read();
    await this.sent();
    if (this.failure !== undefined) throw this.failure;
    return told;
  }
}

export function row(id: string, acked: number, over: Partial<ReplicaRow> = {}): ReplicaRow {
  return { id, nonce: `${id}'s`, acked, leaseMs: 300, streamsMs: 0, streamsClosed: 0, ageMs: 0, ...over };
}
