import { askBucket, type BucketLevel } from '../../../src/domain/limits/bucket.ts';
import type { TokenAnswer, TokenQuestion, TokenStore } from '../../../src/ports/limits/token-store.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What a message meets on its way. */
export interface Net {
  /** Milliseconds one way. */
  latencyMs(): number;
  /** Whether replica and store cannot reach each other now. */
  cut(replica: string): boolean;
  /** Whether this response is lost, though the store did as it was asked. */
  lost(): boolean;
}

/** After this a replica gives an exchange up. */
const timeoutMs = 1_500;

/** Sends a call to a store that is elsewhere. */
function send<T>(time: VirtualTime, net: Net, replica: string, work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = time.after(timeoutMs, () => reject(new Error('too late')));
    if (net.cut(replica)) return;
    time.after(net.latencyMs(), () => {
      if (net.cut(replica)) return;
      const result = work();
      if (net.lost()) return;
      time.after(net.latencyMs(), () => {
        cancel();
        if (!net.cut(replica)) resolve(result);
      });
    });
  });
}

/** Buckets in memory. */
export class ModelBuckets {
  calls = 0;
  questions = 0;
  readonly #nowMs: () => number;
  #levels = new Map<string, BucketLevel>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  flush(): void {
    this.#levels = new Map();
  }

  answer(questions: readonly TokenQuestion[]): TokenAnswer[] {
    this.calls += 1;
    this.questions += questions.length;
    return questions.map((question) => {
      const before = this.#levels.get(question.limit);
      const { after, answer } = askBucket(before, question, question, this.#nowMs());
      this.#levels.set(question.limit, after);
      return answer;
    });
  }
}

interface ModelQuota {
  readonly series: number;
  readonly startMs: number;
  used: number;
  /** What each replica said last of its units. */
  readonly held: Map<string, { spent: number; hand: number; atMs: number }>;
}

/** Milliseconds without a question after which what a replica has at hand is taken back. */
const goneMs = 15_000;

/** Begin and end of the window of a limit, such as `parent:0198…:day`, in UTC. */
function windowAt(limit: string, nowMs: number): [number, number] {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  return limit.endsWith(':day')
    ? [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)]
    : [Date.UTC(year, month), Date.UTC(year, month + 1)];
}

/** Quotas in memory, as `quota_ask` has them in PostgreSQL. */
export class ModelQuotas {
  readonly #wallMs: () => number;
  readonly #quotas = new Map<string, ModelQuota>();
  #series = 0;

  /** @param wallMs milliseconds since 1970 */
  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  /** The quota is counted anew. @param used units of the present window */
  restart(limit: string, used: number): ModelQuota {
    const [startMs] = windowAt(limit, this.#wallMs());
    const quota = { series: (this.#series += 1), startMs, used, held: new Map() };
    this.#quotas.set(limit, quota);
    return quota;
  }

  answer(replica: string, questions: readonly TokenQuestion[]): TokenAnswer[] {
    return questions.map((question) => this.#answer(replica, question));
  }

  #answer(
    replica: string,
    { limit, capacity, needed, ahead, series, spent, hand }: TokenQuestion,
  ): TokenAnswer {
    const nowMs = this.#wallMs();
    const [startMs, endMs] = windowAt(limit, nowMs);
    const there = this.#quotas.get(limit);
    const quota = there?.startMs === startMs ? there : this.restart(limit, 0);
    const before = quota.held.get(replica) ?? { spent: 0, hand: 0 };
    const said = series === quota.series ? { spent, hand } : { spent: before.spent, hand: 0 };
    quota.used += said.spent + said.hand - before.spent - before.hand;
    if (quota.used + needed > capacity) {
      for (const [name, held] of quota.held) {
        if (name === replica || nowMs - held.atMs < goneMs) continue;
        quota.used -= held.hand;
        held.hand = 0;
      }
    }
    const free = Math.max(0, capacity - quota.used);
    const granted = Math.min(free, needed + Math.min(ahead, Math.floor(Math.max(0, free - needed) / 64)));
    quota.used += granted;
    const used = Math.min(granted, needed);
    quota.held.set(replica, { spent: said.spent + used, hand: said.hand + granted - used, atMs: nowMs });
    const window = {
      ...{ series: quota.series, spent: said.spent },
      ...{ lengthMs: endMs - startMs, endsInMs: endMs - nowMs },
    };
    return { granted, left: free - granted, window };
  }
}

/** A store that is elsewhere, as a replica sees it. */
export function elsewhere(
  time: VirtualTime,
  net: Net,
  replica: string,
  answer: (replica: string, questions: readonly TokenQuestion[]) => TokenAnswer[],
): TokenStore {
  return { ask: (questions) => send(time, net, replica, () => answer(replica, questions)) };
}
