import type { Clock } from '../../ports/clock.ts';
import type { TokenAnswer, TokenStore } from '../../ports/limits/token-store.ts';
import type { Timers } from '../../ports/timers.ts';
import type { Portion } from './portion.ts';

/** How long the limiter waits for one of its shared stores, in milliseconds. */
export interface StorePatience {
  /** Time that a request waits for the store's answer. After that, the store is treated as unreachable. */
  readonly answerMs: number;
  /** The same for a limit that this replica has no answer about yet: the store may have to open a connection. */
  readonly firstMs: number;
  /** Time after which a call to the store is abandoned. */
  readonly callMs: number;
}

export interface LimiterPatience {
  readonly buckets: StorePatience;
  readonly quotas: StorePatience;
}

/** @param quotaMs milliseconds that a request waits for an answer about a quota (`limits.answer_ms`) */
export function patienceWith(quotaMs: number): LimiterPatience {
  return {
    buckets: { answerMs: 25, firstMs: 250, callMs: 300 },
    quotas: { answerMs: quotaMs, firstMs: quotaMs, callMs: quotaMs + 300 },
  };
}

/** Minimum time between the beginnings of two calls to an unreachable store, in milliseconds. */
const retryMs = 1_000;
/** Milliseconds between two checks for tokens to give back. */
const sweepMs = 25;
/** Maximum number of queries in one call. */
const mostTogether = 1_000;

export interface QuestionsParts {
  readonly store: TokenStore;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  readonly patience: StorePatience;
  /** Returns the number of running replicas, this one included. */
  readonly replicas: () => number;
  readonly onAway: (away: boolean, error: unknown) => void;
  readonly onAnswered: (questions: number, ms: number) => void;
}

/**
 * Sends this replica's queries about limits to the store, one call at a time. Each call carries all queries that are
 * due, up to {@link mostTogether}.
 */
export class Questions {
  readonly #parts: QuestionsParts;
  readonly #due = new Set<Portion>();
  readonly #holding = new Set<Portion>();
  /**
   * Portions whose part of the store is unreachable while other parts are reachable. Each value is the time of the next
   * attempt.
   */
  readonly #unreached = new Map<Portion, number>();
  #isCalling = false;
  /** Time at which the current call began; `Infinity` while there is no call. */
  #beganMs = Infinity;
  #call: Promise<void> = Promise.resolve();
  #isAway = false;
  #isStopped = false;
  #stopLooking: () => void = () => undefined;
  #stopSweeping: (() => void) | null = null;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  /** Whether the whole store is unreachable, or a part of the store that holds limits in use. */
  get isDegraded(): boolean {
    return this.#isAway || this.#unreached.size > 0;
  }

  /** Milliseconds that a request waits for an answer about this limit. */
  waitMs({ isNew }: Portion): number {
    const { answerMs, firstMs } = this.#parts.patience;
    return isNew ? firstMs : answerMs;
  }

  /** Whether the store is treated as unreachable for this limit, so that requests do not wait for its answer. */
  isAway(portion: Portion, nowMs: number): boolean {
    if (this.#isAway || nowMs - this.#beganMs > this.waitMs(portion)) return true;
    const until = this.#unreached.size === 0 ? undefined : this.#unreached.get(portion);
    return until !== undefined && nowMs < until;
  }

  /** Adds a query about the portion's limit to the next call. */
  ask(portion: Portion): void {
    this.#due.add(portion);
    if (this.#isCalling || this.#isAway || this.#isStopped) return;
    this.#isCalling = true;
    // The call starts in a microtask, so that queries about the same request's other limits can join it.
    queueMicrotask(() => this.#next());
  }

  /** Watches a portion, and gives its tokens back to the store once they have gone unused for a while. */
  watch(portion: Portion): void {
    this.#holding.add(portion);
    this.#stopSweeping ??= this.#parts.timers.after(sweepMs, () => this.#sweep());
  }

  /**
   * Asks how many tokens are left in the store. If the store is unreachable, the portion keeps the number from the last
   * answer. The query is one of the limit's usual ones: beside them, it would tell the store of fewer spent tokens than
   * they do.
   */
  async refresh(portion: Portion): Promise<void> {
    if (this.#isStopped || this.isAway(portion, this.#parts.clock.monotonicMs())) return;
    await new Promise<void>((resolve) => {
      portion.whenTold(resolve);
      this.ask(portion);
    });
  }

  /** Forgets a limit. Tokens on hand are lost, but their bucket fills again. */
  forget(portion: Portion): void {
    this.#holding.delete(portion);
    this.#unreached.delete(portion);
  }

  /** Gives all tokens on hand back to the store, and stops. */
  async stop(): Promise<void> {
    this.#stopLooking();
    this.#stopSweeping?.();
    for (const portion of this.#holding) {
      portion.leave();
      if (portion.isHolding) this.ask(portion);
    }
    // Queries that became due during a call go out in the next call.
    while (this.#isCalling) await this.#call;
    this.#isStopped = true;
  }

  #sweep(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (const portion of this.#holding) {
      if (portion.hasSomethingToSay(nowMs) && !this.isAway(portion, nowMs)) this.ask(portion);
      else if (!portion.isHolding) this.#holding.delete(portion);
    }
    this.#stopSweeping =
      this.#holding.size === 0 ? null : this.#parts.timers.after(sweepMs, () => this.#sweep());
  }

  #next(): void {
    const asked: Portion[] = [];
    for (const portion of this.#due) {
      if (asked.push(portion) === mostTogether) break;
    }
    for (const portion of asked) this.#due.delete(portion);
    this.#call = this.#exchange(asked);
  }

  async #exchange(asked: readonly Portion[]): Promise<void> {
    const { store, clock } = this.#parts;
    const beganMs = clock.monotonicMs();
    this.#beganMs = beganMs;
    try {
      const answers = await this.#inTime(
        store.ask(asked.map((portion) => portion.question(beganMs, this.#parts.replicas()))),
      );
      const nowMs = clock.monotonicMs();
      this.#beganMs = Infinity;
      this.#parts.onAnswered(asked.length, nowMs - beganMs);
      for (const [i, portion] of asked.entries())
        this.#take(portion, answers[i] as TokenAnswer | Error, nowMs);
    } catch (error) {
      this.#beganMs = Infinity;
      this.#beAway(error, beganMs, [...asked, ...this.#due]);
    }
    if (this.#due.size > 0 && !this.#isAway) this.#next();
    else this.#isCalling = false;
  }

  #take(portion: Portion, answer: TokenAnswer | Error, nowMs: number): void {
    if (answer instanceof Error) {
      this.#unreached.set(portion, nowMs + retryMs);
      portion.failed(nowMs, this.#parts.replicas());
      return;
    }
    this.#unreached.delete(portion);
    if (portion.answered(answer, nowMs)) this.#due.add(portion);
    if (portion.isHolding) this.watch(portion);
  }

  /**
   * Marks the store as unreachable. Requests are served from this replica's own shares until the store answers again.
   *
   * @param beganMs time at which the failed call began
   */
  #beAway(error: unknown, beganMs: number, waiting: Iterable<Portion>): void {
    const { clock, replicas, onAway } = this.#parts;
    if (!this.#isAway) onAway(true, error);
    this.#isAway = true;
    this.#due.clear();
    const nowMs = clock.monotonicMs();
    for (const portion of waiting) {
      portion.failed(nowMs, replicas());
      this.watch(portion);
    }
    this.#stopLooking();
    if (this.#isStopped) return;
    const pauseMs = Math.max(0, beganMs + retryMs - nowMs);
    this.#stopLooking = this.#parts.timers.after(pauseMs, () => void this.#lookAgain());
  }

  async #lookAgain(): Promise<void> {
    const beganMs = this.#parts.clock.monotonicMs();
    try {
      await this.#inTime(this.#parts.store.ask([]));
    } catch (error) {
      return this.#beAway(error, beganMs, []);
    }
    this.#isAway = false;
    this.#parts.onAway(false, null);
  }

  /** Settles like `answer`, or rejects after `callMs`. */
  #inTime<T>(answer: Promise<T>): Promise<T> {
    const { timers, patience } = this.#parts;
    return new Promise((resolve, reject) => {
      const callOff = timers.after(patience.callMs, () => reject(new Error('the store is too slow')));
      answer.finally(callOff).then(resolve, reject);
    });
  }
}
