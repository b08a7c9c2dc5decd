import { nearEnd, smallQuota } from '../../ports/limits/month-totals.ts';

/** Part of a quota that all replicas together may let through on an old reading, and report late. */
const unseen = 0.001;
/** For how long a reading says what is left near the end of a quota, and for how long that it is not near its end. */
const freshMs = { near: 250, far: 2_500 };

/** What a replica goes by when it divides a quota. */
export interface MonthView {
  /** Replicas that decide, this one included. */
  readonly replicas: number;
  /** When the last reading began that came back; `-Infinity` before there was one. */
  readonly readMs: number;
}

/**
 * What this replica may let through of one limit by the month. `hold` is its part of what is left: small near the end of
 * the quota, and never so large elsewhere that all replicas together come near it between two readings.
 */
export class MonthQuota {
  quota: number;
  /** First instant of its month, milliseconds since 1970. */
  monthMs: number;
  /** When it was last reported, on the clock of the limiter. */
  reportedMs: number;
  /** Whether a request came under it since anything of the account was changed: it may have been taken away. */
  isCurrent = true;
  /** Let through and not in the total yet: being added, and not even that. */
  adding = 0;
  waiting = 0;
  #total: number | undefined;
  #hold = 0;
  /** When the reading began that the hold is from, near the end. */
  #heldMs = Infinity;
  /** When the reading of the total began. */
  #readMs = -Infinity;
  /** Readings from before this say too little: the quota was changed. */
  #doubtedMs = -Infinity;

  constructor(quota: number, monthMs: number, nowMs: number) {
    this.quota = quota;
    this.monthMs = monthMs;
    this.reportedMs = nowMs;
  }

  /** Of all replicas, as last read; `undefined` where only is known that it is not near its end. */
  get total(): number | undefined {
    return this.#total;
  }

  /** What is left over all replicas, as far as this one knows. */
  get left(): number {
    return Math.max(0, this.quota - (this.#total ?? 0) - this.adding - this.waiting);
  }

  /** Whether there is room for one request here. */
  hasRoom(nowMs: number, view: MonthView): boolean {
    const isFresh = nowMs - this.#heldMs <= freshMs.near && nowMs - view.readMs <= freshMs.far;
    if (!isFresh && view.replicas > 1) this.#hold = Math.min(this.#hold, this.#unseen(view));
    return this.#hold >= 1;
  }

  take(): void {
    this.#hold -= 1;
    this.waiting += 1;
  }

  /** Whether to report soon, since little is held or much is not reported. */
  isLow(view: MonthView): boolean {
    return this.#hold < 1 ? this.left >= 1 : this.waiting >= this.#unseen(view);
  }

  /** From now on only a reading that begins later says what is left: the quota may have been lowered, or set again. */
  doubt(nowMs: number): void {
    this.#doubtedMs = nowMs;
  }

  /**
   * Nothing is known of it but that it is not among those near their end, and not even that before the first reading and in
   * doubt.
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
   * @param total of all replicas, with what this one has added
   * @param sinceMs when the reading began
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

  /** Takes up a limit that may have changed. */
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
