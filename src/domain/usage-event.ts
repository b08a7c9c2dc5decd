import type { AccountId } from './ids.ts';
import { hourMs, type UsageCounts } from './usage.ts';

/** Usage of an account in an hour, or a correction of that usage after its export. */
export interface ExportedUsage extends UsageCounts {
  readonly accountId: AccountId;
  /** Parent of the account, or the account itself if it is a parent. */
  readonly parentId: AccountId;
  readonly externalId: string | null;
  /** Start of the hour, milliseconds since 1970. */
  readonly hourMs: number;
  /** Id of the correction; `null` for the counts at the time the hour was closed. */
  readonly correction: string | null;
}

/**
 * Id by which a billing system knows an account. If it is `external_id`, an account without one is known by its `id`.
 */
export type EventSubject = 'id' | 'external_id';

/** `type` of every event, by which meters of a billing system select events. */
export const usageEventType = 'tenancy-gateway.usage';

/**
 * A CloudEvent 1.0 in JSON with the usage of an account in an hour. Events with equal `source` and `id` are duplicates.
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
 * Makes the event for an account's usage in an hour. The event depends only on the usage and the present `external_id`,
 * so a repeated event is equal to the first.
 *
 * @param about `source` identifies the gateway; `subject` is the id by which the receiver knows an account
 */
export function usageEvent(
  used: ExportedUsage,
  about: { readonly source: string; readonly subject: EventSubject },
): UsageEvent {
  const { accountId, parentId, externalId, correction } = used;
  const from = new Date(used.hourMs).toISOString();
  // Id such as `…/2026-03-01T09`; Stripe accepts at most 100 characters.
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
    },
  };
}
