/** Limits of one replica, on a clock of the test: what the proxy does with the answers of a limiter, not how the limiter comes to them. */
import { limitsSet, type LimitId } from '../../src/domain/limits/limits.ts';
import type { Full, LimitedBy, LimitState, RateLimiter, Taken } from '../../src/ports/limits/rate-limiter.ts';

interface Limit extends LimitId {
  readonly by: LimitedBy;
  readonly quota: number;
}

/** Seconds of each period; a test never comes far in the longer ones. */
const periodS = { second: 1, minute: 60, day: 86_400, month: 2_592_000 };

export class OneReplicaLimiter implements RateLimiter {
  /** Requests that took tokens and did not give them back. */
  taken = 0;
  /** Seconds; moved by the test. A second's limit is whole again after one. */
  nowS = 0;
  readonly #used = new Map<string, number>();
  readonly #delay: ((answer: () => void) => void) | null;

  /** @param delay calls its argument when a store has answered; without it each answer is known at once */
  constructor(delay: ((answer: () => void) => void) | null = null) {
    this.#delay = delay;
  }

  take(by: readonly LimitedBy[], later: (result: Taken | Full) => void): Taken | Full | null {
    if (this.#delay === null) return this.#take(by);
    this.#delay(() => later(this.#take(by)));
    return null;
  }

  async look(by: readonly LimitedBy[]): Promise<readonly LimitState[]> {
    return limitsOf(by).map((limit) => this.#state(limit));
  }

  #take(by: readonly LimitedBy[]): Taken | Full {
    const limits = limitsOf(by);
    const scarcest = (): LimitState | null =>
      limits
        .filter((limit) => limit.by.shown)
        .map((limit) => this.#state(limit))
        .sort((a, b) => a.remaining / a.quota - b.remaining / b.quota)[0] ?? null;
    const full = limits.map((limit) => this.#state(limit)).find(({ remaining }) => remaining === 0);
    if (full !== undefined) {
      const { kind, period, unit, resetS } = full;
      return { full: true, confirmed: true, kind, period, unit, retryAfterS: resetS, scarcest: scarcest() };
    }
    this.#use(limits, 1);
    return {
      full: false,
      get scarcest() {
        return scarcest();
      },
      giveBack: () => this.#use(limits, -1),
      takeUnits: (units, told) => {
        const ofUnits = limits.filter(({ unit }) => unit === 'units');
        for (const limit of ofUnits) this.#add(limit, units - 1);
        if (this.#delay === null || ofUnits.length === 0 || units === 0) return true;
        this.#delay(told);
        return false;
      },
    };
  }

  #use(limits: readonly Limit[], tokens: 1 | -1): void {
    this.taken += tokens;
    for (const limit of limits) this.#add(limit, tokens);
  }

  #add(limit: Limit, tokens: number): void {
    this.#used.set(this.#name(limit), (this.#used.get(this.#name(limit)) ?? 0) + tokens);
  }

  #state(limit: Limit): LimitState {
    const remaining = Math.max(0, limit.quota - (this.#used.get(this.#name(limit)) ?? 0));
    const windowS = periodS[limit.period];
    return {
      ...{ kind: limit.by.kind, period: limit.period, unit: limit.unit },
      ...{ quota: limit.quota, windowS, remaining },
      resetS: windowS,
    };
  }

  #name({ by, period, unit }: Limit): string {
    return `${by.kind} ${by.id} ${unit} ${period} ${period === 'second' ? Math.floor(this.nowS) : ''}`;
  }
}

function limitsOf(by: readonly LimitedBy[]): Limit[] {
  return by.flatMap((each) =>
    limitsSet(each.limits).map(({ period, unit, capacity }) => ({ by: each, period, unit, quota: capacity })),
  );
}
