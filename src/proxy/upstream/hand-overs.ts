import { guarded, type Breakable } from '../../http/guarded.ts';
import type { UsageSink } from '../../ports/usage.ts';
import type { OutgoingRequest } from './message-head.ts';
import type { ConnectionOwner, ResponseHandler } from './upstream-client.ts';

/** Dependencies of a connection, besides its socket. */
export interface ConnectionParts {
  /** `Host` for requests that have none. */
  readonly host: string;
  readonly owner: ConnectionOwner;
  /** Collects the requests of each tick. At the end of the tick they are counted and sent as one group. */
  readonly handOvers: HandOvers;
  /** Logs an exception that belongs to no exchange. */
  readonly report: (error: unknown) => void;
}

/** A request that is about to be written. */
export interface Leaving {
  readonly request: OutgoingRequest;
  readonly handler: ResponseHandler;
  /** Head of the request, plus its body if the body is in one piece. Empty until `mayStillSend` has filled it in. */
  text: string;
}

/** A request that has a connection and will be sent at the end of this turn of the event loop. */
export interface Departing extends Breakable {
  /** Counts the request and returns `true` if it may be sent. Otherwise returns `false`. */
  mayStillSend(): boolean;
  /** Writes the request if it may still be sent. */
  depart(): void;
}

/**
 * The requests to send at the end of this turn of the event loop. They are counted together before the first one is
 * written. So all of them take a single write to the usage journal, and no request reaches an upstream without being in
 * the journal. After an exception, each request is counted and sent separately, so that a faulty one cannot hold up the
 * rest.
 */
export class HandOvers implements Breakable {
  readonly #usage: Pick<UsageSink, 'commit'>;
  readonly #report: (error: unknown) => void;
  #waiting: Departing[] = [];
  #leaving: readonly Departing[] = [];

  /** @param report logs an exception that belongs to no single request, because the code runs once for all of them */
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
    // A request that is decided again re-enters this queue, and is sent in the next turn.
    this.#waiting = [];
    this.#send(this.#leaving);
  });

  /** Sends each of the turn's requests separately, because one of them may have caused the exception. */
  broke(error: unknown): void {
    this.#report(error);
    for (const each of [...this.#leaving, ...this.#waiting.splice(0)]) this.#sendAlone(each);
  }

  #send(waiting: readonly Departing[]): void {
    const going = waiting.filter((each) => each.mayStillSend());
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
