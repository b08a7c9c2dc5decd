/**
 * Streams that replicas keep open: whether each had ended when its replica confirmed what revoked it, and whether it
 * passed bytes after the 2xx.
 */
import type { Coherence } from '../../../src/coherence/coherence.ts';
import type { FactKey, Seq } from '../../../src/ports/facts.ts';

/** A revocation, as the store logged it. */
interface Revoked {
  readonly key: FactKey;
  readonly seq: Seq;
  /** Values are numbers that grow: what is older was revoked by it. */
  readonly olderThan: number;
  /** Whether the 2xx has come. */
  enforced?: boolean;
}

/** What one stream was decided by. */
type Basis = readonly (readonly [key: FactKey, value: unknown])[];

/** What the present history of the store has revoked. */
export class RevocationHistory {
  #revoked: Revoked[] = [];

  add(revoked: Revoked): void {
    this.#revoked.push(revoked);
  }

  /** A change of a fact got its 2xx, and with it all earlier ones. */
  enforce(key: FactKey, upTo: Seq): void {
    for (const each of this.#revoked) if (each.key === key && each.seq <= upTo) each.enforced = true;
  }

  /** A backup was brought back: positions begin anew, and every replica ends every stream. */
  restart(): void {
    this.#revoked = [];
  }

  /** Whether something that a stream was decided by was revoked. @param which revocations that count */
  contradicts(basis: Basis, which: (revoked: Revoked) => boolean): boolean {
    return basis.some(([key, value]) =>
      this.#revoked.some(
        (revoked) =>
          revoked.key === key && which(revoked) && typeof value === 'number' && value < revoked.olderThan,
      ),
    );
  }
}

/** The open streams of one replica. */
export class OpenStreams {
  /** Streams that were open though their replica had confirmed what revoked them. */
  outlived = 0;
  /** Bytes that passed after the 2xx of what revoked their stream. */
  passedLate = 0;
  readonly #history: RevocationHistory;
  #open: Basis[] = [];

  constructor(history: RevocationHistory) {
    this.#history = history;
  }

  follow({ directory }: Coherence): void {
    directory.onRevoked((keys) => this.#end((basis) => basis.some(([key]) => keys.has(key))));
    directory.onEnded(() => this.#end(() => true));
  }

  open(basis: Basis): void {
    this.#open.push(basis);
    if (this.#open.length > mostOpen) this.#open.shift();
  }

  /** To be called when the replica confirms. */
  confirm(seq: Seq): void {
    this.outlived += this.#end((basis) => this.#history.contradicts(basis, (each) => each.seq <= seq));
  }

  /** To be called in a tick in which something is to be passed on, in every stream. */
  pass({ directory }: Coherence): void {
    if (!directory.mayPass()) return void (this.#open = []);
    for (const basis of this.#open)
      if (this.#history.contradicts(basis, ({ enforced }) => enforced === true)) this.passedLate += 1;
  }

  #end(which: (basis: Basis) => boolean): number {
    const before = this.#open.length;
    this.#open = this.#open.filter((basis) => !which(basis));
    return before - this.#open.length;
  }
}

const mostOpen = 20;
