import type { LimitReport, PeerReport, ShareBoard } from '../../../src/ports/limits/share-board.ts';
import {
  nearEnd,
  smallQuota,
  type MonthAddition,
  type NearAfter,
  type MonthTotals,
} from '../../../src/ports/limits/month-totals.ts';
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
const timeoutMs = 500;

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

/** A board in memory, as far away as `net` says. */
export class ModelBoard implements ShareBoard {
  exchanges = 0;
  readonly #time: VirtualTime;
  readonly #net: Net;
  #reports = new Map<string, Map<string, { readonly report: LimitReport; readonly atMs: number }>>();

  constructor(time: VirtualTime, net: Net) {
    this.#time = time;
    this.#net = net;
  }

  flush(): void {
    this.#reports = new Map();
  }

  exchange(replica: string, reports: readonly LimitReport[]): ReturnType<ShareBoard['exchange']> {
    this.exchanges += 1;
    return send(this.#time, this.#net, replica, () => {
      const nowMs = this.#time.nowMs;
      const peers = reports.flatMap((report): PeerReport[] => {
        const of =
          this.#reports.get(report.limit) ?? new Map<string, { report: LimitReport; atMs: number }>();
        this.#reports.set(report.limit, of);
        of.set(replica, { report, atMs: nowMs });
        return [...of]
          .filter(([name]) => name !== replica)
          .map(([name, { report, atMs }]) => ({ ...report, replica: name, ageMs: nowMs - atMs }));
      });
      return { nowMs: nowMs + 1e9, peers };
    });
  }
}

interface ModelMonth {
  readonly limit: string;
  readonly monthMs: number;
  used: number;
  quota: number;
  changedTo: number | null;
  /** When it was last added to or changed, of those near their end. */
  nearMs: number | null;
}

/** Of one page. */
const nearPage = 3;

/** Totals in memory. */
export class ModelTotals implements MonthTotals {
  calls = 0;
  readonly #months = new Map<string, ModelMonth>();
  readonly #batches = new Map<string, number>();
  readonly #time: VirtualTime;
  readonly #net: Net;
  readonly #startMs: number;

  constructor(time: VirtualTime, net: Net, startMs: number) {
    this.#time = time;
    this.#net = net;
    this.#startMs = startMs;
  }

  get #nowMs(): number {
    return this.#startMs + this.#time.nowMs;
  }

  #of(limit: string, monthMs: number): ModelMonth {
    const name = `${limit} ${monthMs}`;
    const there = this.#months.get(name);
    if (there !== undefined) return there;
    const made = { limit, monthMs, used: 0, quota: 0, changedTo: null, nearMs: null };
    this.#months.set(name, made);
    return made;
  }

  #touch(month: ModelMonth): void {
    const isNear = month.used >= nearEnd * month.quota || month.quota <= smallQuota;
    month.nearMs = isNear ? this.#nowMs : null;
  }

  /** What the change of a quota does in the store. */
  change(limit: string, quota: number | null): void {
    const now = new Date(this.#nowMs);
    const month = this.#of(limit, Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
    month.changedTo = quota;
    month.quota = quota ?? month.quota;
    if (quota === null) month.nearMs = null;
    else this.#touch(month);
  }

  add(
    replica: string,
    batch: number,
    additions: readonly MonthAddition[],
    after: NearAfter,
  ): ReturnType<MonthTotals['add']> {
    this.calls += 1;
    return send(this.#time, this.#net, replica, () => {
      const isNew = (this.#batches.get(replica) ?? 0) < batch;
      this.#batches.set(replica, Math.max(batch, this.#batches.get(replica) ?? 0));
      const added = additions.map(({ limit, monthMs, requests, quota }) => {
        const month = this.#of(limit, monthMs);
        if (!isNew) return month;
        month.used += requests;
        month.quota = month.changedTo ?? quota;
        this.#touch(month);
        return month;
      });
      const near = [...this.#months.values()]
        .flatMap((month) =>
          month.nearMs === null ? [] : [{ month, order: orderOf(month.nearMs, month.limit) }],
        )
        .filter(({ order }) => order > orderOf(Date.parse(after.at), after.limit ?? ''))
        .sort((a, b) => (a.order < b.order ? -1 : 1));
      const page = near.slice(0, nearPage).map(({ month }) => month);
      const last = page.at(-1);
      return {
        nowMs: this.#nowMs,
        totals: [...added, ...page].map(({ limit, monthMs, used }) => ({ limit, monthMs, used })),
        next:
          near.length < nearPage || last === undefined
            ? null
            : { at: new Date(last.nearMs ?? 0).toISOString(), limit: last.limit },
      };
    });
  }
}

/** Instants to the millisecond, as {@link NearAfter} has them. */
function orderOf(nearMs: number, limit: string): string {
  return `${new Date(nearMs).toISOString()} ${limit}`;
}
