import type { Clock } from '../../ports/clock.ts';
import type { Timers } from '../../ports/timers.ts';
import { Backoff } from '../../timing/backoff.ts';
import { retryPauses, type Timing } from '../timing.ts';
import type { View } from '../memory/view.ts';
import type { Loader } from './loader.ts';

export interface ProofsParts {
  readonly view: Pick<View, 'held' | 'unproven' | 'oldest' | 'incarnation' | 'forgetUnknownKeys'>;
  readonly loader: Pick<Loader, 'prove'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly timing: Timing;
}

/**
 * Maximum number of facts per read. While facts are unproven, the maximum is `inBulk`. Otherwise it is the number of
 * facts that fall due in a second, but at least `fewest` and at most `facts`. Each fact takes about 10 µs of this
 * process's only thread.
 */
const most = { evenly: { fewest: 128, facts: 1_000 }, inBulk: 500 };
/** Longest pause between two reads, in milliseconds, however few facts memory holds. */
const longestPauseMs = 60_000;

/**
 * Keeps rereading the facts in memory, starting with the one read longest ago. Reads are normally spread evenly, so
 * that each fact is reread within {@link Timing.proveMs}. After this replica has started over, its facts are unproven:
 * memory holds only their names, and they are read without pauses. The log contains every change that the gateway
 * makes, so rereading finds only differences that the log does not explain, such as the effects of a bug in the gateway
 * or of a manual change to the database. If a value differs from the store's, the value is replaced and reported.
 */
export class Proofs {
  readonly #parts: ProofsParts;
  readonly #backoff = new Backoff(retryPauses.firstMs, retryPauses.longestMs);
  #cancel: () => void = () => undefined;
  #proving = false;
  #stopped = false;
  #unknownKeysMs: number;

  constructor(parts: ProofsParts) {
    this.#parts = parts;
    this.#unknownKeysMs = parts.clock.monotonicMs();
    this.#in(this.#pauseMs());
  }

  /** Starts reading the unproven facts at once. Called after this replica has started over. */
  wake(): void {
    if (!this.#proving) this.#in(0);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #in(ms: number): void {
    this.#cancel();
    if (!this.#stopped) this.#cancel = this.#parts.timers.after(ms, () => void this.#round());
  }

  async #round(): Promise<void> {
    this.#proving = true;
    this.#forgetUnknownKeys();
    const done = await this.#proveSome().catch(() => false);
    this.#proving = false;
    if (done) this.#backoff.succeeded();
    this.#in(done ? this.#pauseMs() : this.#backoff.failed());
  }

  /** Rereads the facts that are due. Returns whether the round made progress. */
  async #proveSome(): Promise<boolean> {
    const { view, loader } = this.#parts;
    const before = view.unproven;
    // Until this replica has read the log, memory admits no fact, so this round reads none. If facts are unproven, the
    // round counts as a failure, and is soon retried.
    if (view.incarnation === null) return before === 0;
    const [first, ...others] = view.oldest(this.#portion());
    if (first !== undefined) await loader.prove([first, ...others]);
    return before === 0 || view.unproven < before;
  }

  /** Forgets which keys do not exist, once every {@link Timing.proveMs}. Unlike facts, absent keys are not reread. */
  #forgetUnknownKeys(): void {
    const { view, clock, timing } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#unknownKeysMs < timing.proveMs) return;
    this.#unknownKeysMs = nowMs;
    view.forgetUnknownKeys();
  }

  #portion(): number {
    const { view, timing } = this.#parts;
    if (view.unproven > 0) return most.inBulk;
    const inASecond = Math.ceil((view.held * 1_000) / timing.proveMs);
    return Math.min(Math.max(inASecond, most.evenly.fewest), most.evenly.facts);
  }

  #pauseMs(): number {
    const { view, timing } = this.#parts;
    if (view.unproven > 0 && view.incarnation !== null) return 0;
    const portion = this.#portion();
    // Rereading all facts takes at least two reads, because API keys and other facts are read separately.
    return Math.min((timing.proveMs * portion) / Math.max(view.held, 2 * portion), longestPauseMs);
  }
}
