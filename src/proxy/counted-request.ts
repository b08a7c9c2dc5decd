import { usedBy } from '../domain/usage.ts';
import type { Admission } from '../authz/proxied-request.ts';
import { methodKind, type MethodKind } from '../domain/acting-decision.ts';
import type { CountedKind, CountedRequest, UsageSink } from '../ports/usage.ts';

/**
 * Counts one exchange in the usage figures. A request that is rejected before the hand-over to the upstream is not
 * counted.
 */
export class Counted {
  readonly #usage: UsageSink;
  readonly #method: MethodKind | undefined;
  #kind: CountedKind = 'read';
  #counted: CountedRequest | null = null;
  /**
   * Number of bytes from the client that the usage figures already include. `#bytesOut` is the same for bytes to the
   * client.
   */
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(usage: UsageSink, method: string) {
    this.#usage = usage;
    this.#method = methodKind(method);
  }

  /** Whether the request was counted. */
  get isHandedOver(): boolean {
    return this.#counted !== null;
  }

  /**
   * Counts the request against its account. Call this when the request is handed to the upstream, or when the upstream
   * cannot be reached. Does nothing if the request is already counted. A request without a key has no account and is
   * not counted.
   *
   * @param admission `null` if the request has no key
   */
  handOver(admission: Admission | null): void {
    if (this.#counted !== null || admission === null || this.#method === undefined) return;
    const { permit, caller } = admission;
    const isByDefault = permit.reason === 'self-by-default' && caller.kind === 'parent';
    this.#kind = this.#method === 'write' && isByDefault ? 'write-by-default' : this.#method;
    this.#counted = this.#usage.count(usedBy(caller, permit.resolvedTenant), this.#kind);
  }

  /** Undoes the count, because the request was not sent after all. */
  takeBack(): void {
    if (this.#counted !== null) this.#usage.takeBack(this.#counted, this.#kind);
    this.#counted = null;
  }

  /**
   * Counts what the response says that the request was worth, and saves that. Call this before the client gets the
   * response. Does nothing if the request was not counted.
   */
  noteUnits(units: number): void {
    if (this.#counted === null || units === 0) return;
    this.#usage.noteUnits(this.#counted, units);
    this.#usage.commit();
  }

  /** Updates the usage figures with the bytes since the previous call. Both parameters are totals for the exchange. */
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
