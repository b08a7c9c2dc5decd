import type { AccountId } from '../../domain/ids.ts';
import type { UsageEvent } from '../../domain/usage-event.ts';
import type { UsagePeriod } from '../../domain/usage.ts';

/** Position of a replay. */
export type ReplayCursor =
  { readonly hourMs: number; readonly after: AccountId | null } | { readonly corrections: number };

export interface ReplayedPortion {
  readonly events: readonly UsageEvent[];
  /** Events whose content the receiver rejected. They are skipped: the next call continues after them. */
  readonly rejected: readonly UsageEvent[];
  /** `from` of the next call; `null` at the end. */
  readonly next: ReplayCursor | null;
}

export interface UsageReplay {
  /** End of the hours that can be exported again, milliseconds since 1970; -Infinity if there are none. */
  closedUntil(): Promise<number>;
  /**
   * Exports a portion of a period again, with the event ids and counts of the first time.
   *
   * @param from `next` of the previous portion; `null` for the first
   * @param push whether to send the events, or only to return them
   * @throws PushFailed if the receiver fails for a reason other than the events; repeat the same call then
   */
  replay(period: UsagePeriod, from: ReplayCursor | null, push: boolean): Promise<ReplayedPortion>;
}
