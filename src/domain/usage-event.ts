import type { AccountId } from './ids.ts';
import { hourMs, type UsageCounts } from './usage.ts';

/** What an account used in an hour, or what came to it after that was exported. */
export interface ExportedUsage extends UsageCounts {
  readonly accountId: AccountId;
  /** Its parent; the account itself where it is one. */
  readonly parentId: AccountId;
  readonly externalId: string | null;
  /** Start of the hour, milliseconds since 1970. */
  readonly hourMs: number;
  /** Names the correction; `null` for what was counted by the time the hour was closed. */
  readonly correction: string | null;
}

/** Whom a billing system knows: the id of the account, or the `external_id` where it has one. */
export type EventSubject = 'id' | 'external_id';

/** The `type` of every event: a meter of a billing system goes by it. */
export const usageEventType = 'tenancy-gateway.usage';

/** A CloudEvent 1.0 in JSON: the usage of an account in an hour. Two with the same `source` and `id` are the same one. */
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
 * The event for some usage. What it says follows from the usage alone, `external_id` aside: made again it is the same.
 *
 * @param about `source` names the gateway; `subject` says which id of an account the receiver knows
 */
export function usageEvent(
  used: ExportedUsage,
  about: { readonly source: string; readonly subject: EventSubject },
): UsageEvent {
  const { accountId, parentId, externalId, correction } = used;
  const from = new Date(used.hourMs).toISOString();
  // Such as `…/2026-03-01T09`: no longer than what Stripe takes as an identifier, 100 characters.
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
