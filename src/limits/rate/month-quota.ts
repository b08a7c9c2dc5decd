import { nearEnd, smallQuota } from '../../ports/limits/month-totals.ts';

/** Part of a quota that all replicas together may admit on an old reading and report late. */
const unseen = 0.001;
/** Milliseconds for which a reading counts near the end of a quota, and further from it. */
const freshMs = { near: 250, far: 2_500 };

/** Knowledge of a replica that decides how it divides quotas. */
export interface MonthView {
  /** Replicas that decide, this one included. */
  readonly replicas: number;
  /** Start of the newest reading that came back; `-Infinity` before the first. */
  readonly readMs: number;
}

/**
 * One limit by the month, as this replica may use it. `hold` is its part of the remaining requests: small near the end
 * of the quota, and elsewhere never so large that all replicas together reach the end between two readings.
 */
export class MonthQuota {
  quota: number;
  /** First instant of its month, milliseconds since 1970. */
  monthMs: number;
  /** Last report, on the limiter's clock. */
  reportedMs: number;
  /** Whether a request used the limit since the last change of the account: the change may have removed the limit. */
  isCurrent = true;
  /** Admitted requests that the total does not include: those on their way to the store, and those not sent yet. */
  adding = 0;
  waiting = 0;
  #total: number | undefined;
  #hold = 0;
  /** Start of the reading that the hold comes from, near the end of the quota. */
  #heldMs = Infinity;
  /** Start of the reading of the total. */
  #readMs = -Infinity;
  /** Readings that began earlier do not count: the quota was changed. */
  #doubtedMs = -Infinity;

  constructor(quota: number, monthMs: number, nowMs: number) {
    this.quota = quota;
    this.monthMs = monthMs;
    this.reportedMs = nowMs;
  }

  /** Total of all replicas, as last read; `undefined` if this replica only knows that the quota is not near its end. */
  get total(): number | undefined {
    return this.#total;
  }

  /** Requests left over all replicas, as far as this one knows. */
  get left(): number {
    return Math.max(0, this.quota - (this.#total ?? 0) - this.adding - this.waiting);
  }

  /** Whether this replica may admit one request. */
  hasRoom(nowMs: number, view: MonthView): boolean {
    const isFresh = nowMs - this.#heldMs <= freshMs.near && nowMs - view.readMs <= freshMs.far;
    if (!isFresh && view.replicas > 1) this.#hold = Math.min(this.#hold, this.#unseen(view));
    return this.#hold >= 1;
  }

  take(): void {
    this.#hold -= 1;
    this.waiting += 1;
  }

  /** Whether to report soon, because little is held or much is unreported. */
  isLow(view: MonthView): boolean {
    return this.#hold < 1 ? this.left >= 1 : this.waiting >= this.#unseen(view);
  }

  /** Ignores readings that began before `nowMs`: the quota may have been lowered or set again. */
  doubt(nowMs: number): void {
    this.#doubtedMs = nowMs;
  }

  /**
   * Sets the hold without a total: the quota is not near its end. Before the first reading and in doubt, even that is
   * unknown.
   */
  beUnknown(view: MonthView): void {
    const isKnown = view.readMs !== -Infinity && view.readMs >= this.#doubtedMs;
    if (isKnown && this.quota <= smallQuota) {
      this.read(0, view.readMs, view);
      return;
    }
    this.#total = undefined;
    const far = Math.floor(((1 - nearEnd) * this.quota) / (4 * view.replicas));
    const most = isKnown ? Math.max(1, far) : this.#unseen(view);
    this.#hold = most - this.waiting - this.adding;
  }

  /**
   * @param total of all replicas, including what this one has added
   * @param sinceMs start of the reading
   */
  read(total: number, sinceMs: number, view: MonthView): void {
    const { replicas } = view;
    this.#total = total;
    this.#readMs = sinceMs;
    const { left } = this;
    const room = (1 - nearEnd) * this.quota;
    const isNear = left <= room || this.quota <= smallQuota;
    this.#heldMs = isNear ? sinceMs : Infinity;
    const part = Math.floor((isNear ? left : room) / (4 * replicas));
    if (replicas <= 1) this.#hold = left;
    else {
      const most = sinceMs < this.#doubtedMs ? this.#unseen(view) : Infinity;
      this.#hold = Math.min(most, Math.max(Math.min(1, left), part));
    }
  }

  /** Applies a limit that may have changed. */
  change(quota: number, nowMs: number, view: MonthView): void {
    const before = this.quota;
    this.quota = quota;
    this.isCurrent = true;
    if (quota < before) this.doubt(nowMs);
    if (this.#total === undefined) this.beUnknown(view);
    else this.read(this.#total, quota > before ? nowMs : this.#readMs, view);
  }

  #unseen({ replicas }: MonthView): number {
    return Math.max(1, Math.floor((unseen * this.quota) / replicas));
  }
}
