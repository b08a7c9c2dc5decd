import type { ParentAccount, SubAccount } from './account.ts';
import type { ApiKey } from './api-key.ts';
import type { AccountId, EventId, KeyId } from './ids.ts';

/** What can happen to an account or a key. */
export const eventTypes = [
  'account.created',
  'account.updated',
  'account.suspended',
  'account.resumed',
  'sub_account.created',
  'sub_account.updated',
  'sub_account.deactivated',
  'sub_account.reactivated',
  'api_key.created',
  'api_key.updated',
  'api_key.rotated',
  'api_key.revoked',
] as const;

export type EventType = (typeof eventTypes)[number];

/** Who made a change: a key of a parent, an operator by the name of its token, or no request at all. */
export interface EventActor {
  readonly kind: 'api_key' | 'operator' | 'system';
  /** Of an `api_key`. */
  readonly keyId: KeyId | null;
  /** Of the key as it was called then, or of the operator's token. */
  readonly name: string | null;
}

interface Changed<Kind extends string, T> {
  readonly kind: Kind;
  readonly after: T;
  /** The same thing as it was before; `null` where it is new. */
  readonly before: T | null;
}

/** What was changed. */
export type EventSubject =
  Changed<'account', ParentAccount> | Changed<'sub_account', SubAccount> | Changed<'api_key', ApiKey>;

/** One change of an account or a key, as it was made. */
export interface Event {
  readonly id: EventId;
  readonly type: EventType;
  readonly createdAt: Date;
  /** The parent, also where a sub-account was changed. */
  readonly accountId: AccountId;
  readonly subAccountId: AccountId | null;
  readonly actor: EventActor;
  /** Of the request that made the change; `null` where none did, or where a replica of 0.1.0 served it. */
  readonly requestId: string | null;
  /** Where that request came from. */
  readonly address: string | null;
  readonly subject: EventSubject;
}
