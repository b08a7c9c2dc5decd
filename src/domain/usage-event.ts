import type { AccountId } from './ids.ts';
import { hourMs, type UsageCounts } from './usage.ts';

/** An account's usage in one hour, or a correction to usage that was already exported. */
export interface ExportedUsage extends UsageCounts {
  readonly accountId: AccountId;
  /** Parent of the account, or the account itself if it is a parent. */
  readonly parentId: AccountId;
  readonly externalId: string | null;
  /** Start of the hour, milliseconds since 1970. */
  readonly hourMs: number;
  /** Id of the correction; `null` for the counts as they were when the hour was closed. */
  readonly correction: string | null;
}

/**
 * Kind of id that a billing system uses for accounts. With `external_id`, accounts without an `external_id` are
 * identified by their `id`.
 */
export type EventSubject = 'id' | 'external_id';

/** `type` of every usage event. A billing system's meters select events by it. */
export const usageEventType = 'tenancy-gateway.usage';

/**
 * A CloudEvents 1.0 event in JSON that reports an account's usage in one hour. Events with the same `source` and `id`
 * are duplicates.
 */
export interface UsageEvent {
  readonly specversion: '1.0';
  readonly type: typeof usageEventType;
  readonly source: string;
  readonly id: string;
  /** Start of the hour. */
  readonly time: string;
  readonly subject: string;
  readonly datacontenttype: 'application/json';
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * Returns the event for an account's usage in one hour. The event depends only on the arguments. So an event that is
 * sent twice is the same both times, unless the account's `external_id` has changed.
 *
 * @param about `source` identifies the gateway; `subject` is the kind of id that the receiver uses for accounts
 */
export function usageEvent(
  used: ExportedUsage,
  about: { readonly source: string; readonly subject: EventSubject },
): UsageEvent {
  const { accountId, parentId, externalId, correction } = used;
  const from = new Date(used.hourMs).toISOString();
  // Example: `0198…/2026-03-01T09`; a correction's id follows after another `/`. The whole id has at most 87
  // characters, and Stripe accepts 100.
  const id = [accountId, from.slice(0, 13), ...(correction === null ? [] : [correction])].join('/');
  return {
    specversion: '1.0',
    type: usageEventType,
    source: about.source,
    id,
    time: from,
    subject: about.subject === 'external_id' ? (externalId ?? accountId) : accountId,
    datacontenttype: 'application/json',
    data: {
      account_id: parentId,
      sub_account_id: accountId,
      external_id: externalId,
      from,
      to: new Date(used.hourMs + hourMs).toISOString(),
      correction: correction !== null,
      requests: used.requests,
      reads: used.reads,
      writes: used.writes,
      client_errors: used.clientErrors,
      server_errors: used.serverErrors,
      bytes_in: used.bytesIn,
      bytes_out: used.bytesOut,
      units: used.units,
    },
  };
}
