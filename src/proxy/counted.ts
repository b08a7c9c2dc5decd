import { methodKind, type MethodKind } from '../domain/acting-decision.ts';
import type { CountedRequest, UsageSink } from '../ports/usage.ts';
import type { Decision } from './decision.ts';

/** What one exchange has counted of itself: nothing until it is handed to the upstream. */
export class Counted {
  readonly #usage: UsageSink;
  readonly #kind: MethodKind | undefined;
  #counted: CountedRequest | null = null;
  /** Bytes that have been noted. */
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(usage: UsageSink, method: string) {
    this.#usage = usage;
    this.#kind = methodKind(method);
  }

  /** Counts the request, once, under whom it was decided for. A preflight has no account. */
  handOver({ admission }: Decision): void {
    if (this.#counted !== null || admission === null || this.#kind === undefined) return;
    const { permit, caller } = admission;
    this.#counted = this.#usage.count(permit.resolvedTenant, caller.keyId, this.#kind);
  }

  /** It was not sent after all. */
  takeBack(): void {
    if (this.#counted !== null && this.#kind !== undefined) this.#usage.takeBack(this.#counted, this.#kind);
    this.#counted = null;
  }

  /** Notes bytes that have passed since this was called last. Both are those of the whole exchange. */
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
