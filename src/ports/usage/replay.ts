import type { AccountId } from '../../domain/ids.ts';
import type { UsageEvent } from '../../domain/usage-event.ts';
import type { UsagePeriod } from '../../domain/usage.ts';

/** Where a call went up to. */
export type ReplayCursor =
  { readonly hourMs: number; readonly after: AccountId | null } | { readonly corrections: number };

export interface ReplayedPortion {
  readonly events: readonly UsageEvent[];
  /** Those of them that the receiver rejected for what is in them. They are passed over: the call after goes on behind them. */
  readonly rejected: readonly UsageEvent[];
  /** Where to go on; `null` at the end. */
  readonly next: ReplayCursor | null;
}

export interface UsageReplay {
  /** Hours from before this can be exported again, milliseconds since 1970; -Infinity where there is none. */
  closedUntil(): Promise<number>;
  /**
   * Exports a portion of a period again: events with the ids and the counts of the first time.
   *
   * @param from where the portion before ended; `null` for the first
   * @param push whether they are sent, or only made
   * @throws PushFailed where the receiver accepts none for a reason of its own; then the same call is to be made again
   */
  replay(period: UsagePeriod, from: ReplayCursor | null, push: boolean): Promise<ReplayedPortion>;
}
