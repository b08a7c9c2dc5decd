import { guarded, type Breakable } from '../../http/guarded.ts';
import { methodKind, type MethodKind, type Permit } from '../../domain/acting-decision.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Problem } from '../../domain/problem.ts';
import type { CountedKind, CountedRequest, UsageSink } from '../../ports/usage.ts';
import type { OutgoingRequest } from './message-head.ts';
import type { ConnectionOwner, ResponseHandler } from './upstream-client.ts';

/** Parts of a connection besides its socket. */
export interface ConnectionParts {
  /** `Host` for requests without one. */
  readonly host: string;
  readonly owner: ConnectionOwner<ResponseHandler>;
  /** Batch that counts and sends its requests at the end of each tick. */
  readonly handOvers: HandOvers;
  /** Logs an exception where no exchange does. */
  readonly report: (error: unknown) => void;
}

/** A request that is about to be written. */
export interface Leaving {
  readonly request: OutgoingRequest;
  readonly handler: ResponseHandler;
  /** Its head, and its body if that is in one piece; empty until it is prepared. */
  text: string;
}

/** A request that has a connection, and is sent at the end of this turn of the event loop. */
export interface Departing extends Breakable {
  /** Returns whether it may be sent, and counts it then. */
  prepare(): boolean;
  /** Writes it, if it may still be sent. */
  depart(): void;
}

/**
 * The requests that go out in this turn of the event loop. They are counted together before the first of them is written:
 * one write to the journal for all, and no request reaches an upstream that a crash could lose from the usage. After an
 * exception each is counted and sent by itself, so the others go out whatever becomes of one.
 */
export class HandOvers implements Breakable {
  readonly #usage: Pick<UsageSink, 'commit'>;
  readonly #report: (error: unknown) => void;
  #waiting: Departing[] = [];
  #leaving: readonly Departing[] = [];

  /** @param report logs an exception in what serves all requests of a turn */
  constructor(usage: Pick<UsageSink, 'commit'>, report: (error: unknown) => void) {
    this.#usage = usage;
    this.#report = report;
  }

  enter(departing: Departing): void {
    // Immediates run right after the reads of this turn, before anything else is read.
    if (this.#waiting.push(departing) === 1) setImmediate(this.#turn);
  }

  readonly #turn = guarded(this, () => {
    this.#leaving = this.#waiting;
    // A request that is decided again enters once more, and is sent in the next turn.
    this.#waiting = [];
    this.#send(this.#leaving);
  });

  /** Sends each request of the turn by itself: one of them may be the cause. */
  broke(error: unknown): void {
    this.#report(error);
    for (const each of [...this.#leaving, ...this.#waiting.splice(0)]) this.#sendAlone(each);
  }

  #send(waiting: readonly Departing[]): void {
    const going = waiting.filter((each) => each.prepare());
    if (going.length === 0) return;
    this.#usage.commit();
    for (const each of going) each.depart();
  }

  #sendAlone(departing: Departing): void {
    try {
      this.#send([departing]);
    } catch (error) {
      departing.broke(error);
    }
  }
}

/** A decided request. `admission` is `null` for a preflight. */
interface Decided {
  readonly admission: { readonly permit: Permit; readonly caller: Caller } | null;
  /** Takes from its limits, once. Returns the problem if a limit has no room. */
  takeFromLimits(): Problem | undefined;
}

/** Counts of one exchange: none until it is handed to the upstream. */
export class Counted {
  readonly #usage: UsageSink;
  readonly #method: MethodKind | undefined;
  #kind: CountedKind = 'read';
  #counted: CountedRequest | null = null;
  /** Bytes noted so far. */
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(usage: UsageSink, method: string) {
    this.#usage = usage;
    this.#method = methodKind(method);
  }

  /**
   * Counts the request, once, against its limits and under its account: when it is handed to the upstream, or when no
   * upstream can be reached. A preflight has no account. Returns the problem if a limit is full; then nothing is
   * counted.
   */
  handOver(decided: Decided): Problem | undefined {
    const problem = decided.takeFromLimits();
    if (problem !== undefined) return problem;
    const { admission } = decided;
    if (this.#counted !== null || admission === null || this.#method === undefined) return undefined;
    const { permit, caller } = admission;
    const isByDefault = permit.reason === 'self-by-default' && caller.kind === 'parent';
    this.#kind = this.#method === 'write' && isByDefault ? 'write-by-default' : this.#method;
    this.#counted = this.#usage.count(permit.resolvedTenant, caller.keyId, this.#kind);
    return undefined;
  }

  /** Undoes the count of a request that was not sent after all. */
  takeBack(): void {
    if (this.#counted !== null) this.#usage.takeBack(this.#counted, this.#kind);
    this.#counted = null;
  }

  /** Notes the bytes since the last call. Both numbers are totals of the exchange. */
  noteBytes(bytesIn: number, bytesOut: number): void {
    if (this.#counted === null || (bytesIn === this.#bytesIn && bytesOut === this.#bytesOut)) return;
    this.#usage.noteBytes(this.#counted, bytesIn - this.#bytesIn, bytesOut - this.#bytesOut);
    this.#bytesIn = bytesIn;
    this.#bytesOut = bytesOut;
  }

  end(status: number): void {
    if (this.#counted !== null) this.#usage.noteOutcome(this.#counted, status);
  }
}
