import type { AccountId } from '../../domain/ids.ts';
import type { UsageEvent } from '../../domain/usage-event.ts';
import type { UsagePeriod } from '../../domain/usage.ts';

/**
 * Point from which a replay continues. The hours come first: `after` is the last account done in the hour, `null` at
 * its start. The corrections come next: `corrections` is the number of the last correction done, 0 at their start.
 */
export type ReplayCursor =
  { readonly hourMs: number; readonly after: AccountId | null } | { readonly corrections: number };

export interface ReplayedPortion {
  readonly events: readonly UsageEvent[];
  /** Events that the receiver rejected because of their content. The next call skips them. */
  readonly rejected: readonly UsageEvent[];
  /** Value of `from` for the next call; `null` if the replay is complete. */
  readonly next: ReplayCursor | null;
}

export interface UsageReplay {
  /** End of the hours that can be exported again, milliseconds since 1970; -Infinity if there are none. */
  closedUntil(): Promise<number>;
  /**
   * Exports part of a period again. The events have the same ids and counts as in the first export.
   *
   * @param from `next` of the previous call; `null` for the first call
   * @param push whether to send the events; if `false`, they are only returned
   * @throws PushFailed if the receiver fails for a reason other than the events. The caller may then retry
   */
  replay(period: UsagePeriod, from: ReplayCursor | null, push: boolean): Promise<ReplayedPortion>;
}
