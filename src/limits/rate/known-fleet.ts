import { tuning, type Fleet } from './tuning.ts';

/** Replicas there are taken to be, while it is not known. */
const unknownReplicas = 4;
/** Reports are older, by so many rounds, before they say nothing any more. */
const roundsFresh = 3;

/** What this replica knows of the others, as it learns it. */
export class KnownFleet implements Fleet {
  replicas: number;
  degraded = false;
  freshMs: number = tuning.freshMs;
  #names: ReadonlySet<string> = new Set();

  /** @param isShared whether there may be others */
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

  /** @param ms in which all limits in use here were told of: others, which share the store, will take about as long */
  noteRound(ms: number): void {
    this.freshMs = Math.max(tuning.freshMs, roundsFresh * ms);
  }
}
