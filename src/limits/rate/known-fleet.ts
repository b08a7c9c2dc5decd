import { tuning, type Fleet } from './tuning.ts';

/** Number of replicas assumed while it is unknown. */
const unknownReplicas = 4;
/** Rounds after which a report is too old to count. */
const roundsFresh = 3;

/** This replica's knowledge about the others. */
export class KnownFleet implements Fleet {
  replicas: number;
  degraded = false;
  freshMs: number = tuning.freshMs;
  #names: ReadonlySet<string> = new Set();

  /** @param isShared whether other replicas may exist */
  constructor(isShared: boolean) {
    this.replicas = isShared ? unknownReplicas : 1;
  }

  has(replica: string): boolean {
    return this.#names.has(replica);
  }

  /** @param names of the replicas that decide, this one included */
  note(names: ReadonlySet<string>): void {
    this.#names = names;
    this.replicas = Math.max(1, names.size);
  }

  /**
   * @param ms duration of a round, which reported all limits in use here; other replicas on this store need about as
   * long
   */
  noteRound(ms: number): void {
    this.freshMs = Math.max(tuning.freshMs, roundsFresh * ms);
  }
}
