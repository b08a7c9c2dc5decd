/** The store as the protocol sees it, in virtual time: the log, the facts, the rows of the replicas. */
import { within } from '../../../src/timing/within.ts';
import type {
  CoherenceLog,
  LogEntry,
  LogReading,
  PrunePortion,
  ReplicaRow,
} from '../../../src/ports/coherence-log.ts';
import type { FactKey, FactReading, FactSource, FactValue, Seq } from '../../../src/ports/facts.ts';
import { ModelServer, type Network } from './model-server.ts';
import { rateOfAClock, type Process, type World } from './world.ts';

/** Entries of a page, and changes that a replica which knows nothing begins with: so few that both happen all the time. */
const [pageOf, beginningOf] = [3, 6];

interface State {
  seq: Seq;
  floor: Seq;
  log: (LogEntry & { readonly at: number })[];
  facts: Map<FactKey, FactValue>;
  rows: Map<string, ReplicaRow>;
  incarnation: string;
  /** The incarnation whose rows are complete. */
  completeIn: string;
}

export class ModelStore {
  readonly #world: World;
  readonly #server: ModelServer;
  /** Positions that rows showed before confirmations which are not on disk yet. */
  readonly #onDisk = new Map<string, Seq>();
  /** Of the database's clock, by which the log is pruned. */
  readonly #rate: number;
  #restores = 0;
  #setForward = 0;
  #state: State;

  constructor(world: World, network: Network, facts: ReadonlyMap<FactKey, FactValue>) {
    this.#world = world;
    this.#server = new ModelServer(world, network);
    this.#rate = rateOfAClock(world);
    this.#state = {
      seq: 0,
      floor: 1,
      log: [],
      facts: new Map(facts),
      rows: new Map(),
      incarnation: 'first',
      completeIn: 'first',
    };
  }

  /** The truth at this moment, for the harness. */
  fact(key: FactKey): FactValue {
    return this.#state.facts.get(key) ?? null;
  }

  get replicaIds(): string[] {
    return [...this.#state.rows.keys()];
  }

  get seq(): Seq {
    return this.#state.seq;
  }

  /** The clock of its machine is set, as by an operator who meant the time zone. */
  setClockForward(ms: number): void {
    this.#setForward += ms;
  }

  /** Whether every message arrives, and soon. */
  set smooth(smooth: boolean) {
    this.#server.smooth = smooth;
  }

  pause(ms: number): void {
    this.#server.pause(ms);
  }

  /** Killed and started again: what was committed durably stays, every connection gets an error. */
  restart(ms: number): void {
    const { rows } = this.#state;
    for (const [id, acked] of this.#onDisk) {
      const row = rows.get(id);
      if (row !== undefined) rows.set(id, { ...row, acked });
    }
    this.#server.restart(ms);
  }

  backup(): State {
    return structuredClone(this.#state);
  }

  /** A backup is brought back: another history from there on. Its rows may show no replica that lives now. */
  restore(backup: State, { withRows }: { readonly withRows: boolean }): void {
    this.#state = structuredClone(backup);
    this.#onDisk.clear();
    if (!withRows) this.#state.rows.clear();
    this.#state.incarnation = `restored ${++this.#restores}`;
  }

  /** Writes a fact, for the harness: as part of a mutation or of a restore. */
  put(key: FactKey, value: FactValue): void {
    this.#state.facts.set(key, value);
  }

  /** What a mutation does last: it takes the next position and logs what it touched. */
  record(key: FactKey, revoked: boolean): Seq {
    this.#onDisk.clear();
    const seq = ++this.#state.seq;
    this.#state.log = this.#state.log.filter((entry) => entry.key !== key || (entry.revoked && !revoked));
    this.#state.log.push({ seq, key, revoked, at: this.#clockMs });
    this.#server.hint();
    return seq;
  }

  get incarnation(): string {
    return this.#state.incarnation;
  }

  /** Newest position in the log that touched a fact. */
  lastTouched(key: FactKey): Seq | undefined {
    return this.#state.log.findLast((entry) => entry.key === key)?.seq;
  }

  /** The position that a change waits for which logs nothing itself: see `coherence_awaited`. */
  unconfirmed(key: FactKey): Seq | undefined {
    const { seq, floor, rows, incarnation, completeIn } = this.#state;
    if (incarnation !== completeIn) return seq;
    const behind = [...rows.values()].some(({ acked }) => acked < floor - 1);
    return this.lastTouched(key) ?? (behind ? floor - 1 : undefined);
  }

  /** A row goes away while its replica lives: what must never happen. */
  dropRow(id: string): void {
    this.#state.rows.delete(id);
  }

  /** One round trip of `process`: `work` runs at one moment on the server. */
  call<T>(process: Process, work: () => T): Promise<T> {
    return this.#server.call(process, work);
  }

  /** @param deadlineMs of each call, by the clock of the process; what it asked for may take effect after that */
  logFor(process: Process, deadlineMs: number): CoherenceLog {
    const call = <T>(work: () => T): Promise<T> =>
      within(process.timers, deadlineMs, this.call(process, work));
    return {
      register: ({ id, nonce, leaseMs, streamsMs }) =>
        call(() => {
          const { acked = 0, streamsClosed = 0 } = this.#state.rows.get(id) ?? {};
          this.#state.rows.set(id, { id, nonce, leaseMs, streamsMs, acked, streamsClosed, ageMs: 0 });
          this.#onDisk.clear();
          return { acked, nowMs: this.#clockMs };
        }),
      readAfter: (after) => call(() => this.readLog(after)),
      ack: (id, seq, streamsClosed) =>
        call(() => {
          const row = this.#state.rows.get(id);
          if (row === undefined) return;
          if (!this.#onDisk.has(id)) this.#onDisk.set(id, row.acked);
          this.#state.rows.set(id, { ...row, acked: Math.max(row.acked, seq), streamsClosed });
        }),
      replicas: () =>
        call(() => {
          const { incarnation, completeIn, seq, rows } = this.#state;
          return { incarnation, complete: completeIn === incarnation, seq, rows: [...rows.values()] };
        }),
      noteComplete: (incarnation) =>
        call(() => {
          if (incarnation === this.#state.incarnation) this.#state.completeIn = incarnation;
        }),
      removeReplica: (id, nonce) =>
        call(() => {
          if (this.#state.rows.get(id)?.nonce === nonce) this.#state.rows.delete(id);
        }),
      prune: (portion) => call(() => this.#prune(portion)),
      onHint: (listener) => this.#server.onHint(process, listener),
    };
  }

  /** A reading of the log at this moment, as far as one page goes. */
  readLog(after: Seq | null): LogReading {
    const { incarnation, seq, floor, log } = this.#state;
    const start = after ?? Math.max(floor - 1, seq - beginningOf);
    const entries = log.filter((entry) => entry.seq > start).slice(0, pageOf);
    const through = entries.length < pageOf ? seq : (entries.at(-1)?.seq ?? seq);
    return { incarnation, seq, through, floor: after === null ? start + 1 : floor, entries };
  }

  /** Everything that was changed longer ago is deleted, by the database's clock, for the harness. */
  pruneOlder(ageMs: number): void {
    const { seq, log } = this.#state;
    const kept = log.find(({ at }) => at >= this.#clockMs - ageMs)?.seq ?? seq;
    this.#pruneBefore(kept);
  }

  #prune({ incarnation, before }: PrunePortion): boolean {
    if (incarnation === this.#state.incarnation) this.#pruneBefore(Math.min(before, this.#state.seq));
    return false;
  }

  #pruneBefore(before: Seq): void {
    const { floor, log } = this.#state;
    this.#state.log = log.filter(({ seq }) => seq >= before);
    this.#state.floor = Math.max(floor, before);
  }

  /** Reads a fact and those that go with it. @param deadlineMs as for {@link logFor} */
  sourceFor(
    process: Process,
    deadlineMs: number,
    together: (key: FactKey) => readonly FactKey[],
  ): FactSource {
    const call = <T>(work: () => T): Promise<T> =>
      within(process.timers, deadlineMs, this.call(process, work));
    return {
      readFacts: (asked) =>
        call((): FactReading => {
          const { seq, incarnation } = this.#state;
          return {
            seq,
            incarnation,
            facts: new Map(asked.flatMap(together).map((each) => [each, this.fact(each)])),
          };
        }),
    };
  }

  get #clockMs(): number {
    return this.#world.now * this.#rate + this.#setForward;
  }
}
