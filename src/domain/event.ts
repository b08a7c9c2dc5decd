import type { ParentAccount, SubAccount } from './account.ts';
import type { LimitPeriod, LimitUnit } from './limits/limits.ts';
import type { Plan } from './limits/plan.ts';
import type { ApiKey } from './api-key.ts';
import type { AccountId, EventId, KeyId } from './ids.ts';

/** Types of a parent's events: changes to accounts and keys, and quotas that are nearly or fully used up. */
export const eventTypes = [
  'account.created',
  'account.updated',
  'account.suspended',
  'account.resumed',
  'account.deleted',
  'sub_account.created',
  'sub_account.updated',
  'sub_account.deactivated',
  'sub_account.reactivated',
  'sub_account.deleted',
  'api_key.created',
  'api_key.updated',
  'api_key.rotated',
  'api_key.revoked',
  'quota.near',
  'quota.reached',
] as const;

/** Types of all events. Events about plans belong to no parent, so only operators see them. */
export const operatorEventTypes = [...eventTypes, 'plan.created', 'plan.updated', 'plan.deleted'] as const;

export type EventType = (typeof operatorEventTypes)[number];

/**
 * Actor behind a change: a parent's key, a session of the portal, an operator (identified by token name), or the system
 * itself if no request made the change.
 */
export interface EventActor {
  readonly kind: 'api_key' | 'portal' | 'operator' | 'system';
  /** Id of the key, or of the key that made the portal session; otherwise `null`. */
  readonly keyId: KeyId | null;
  /** Name of the key at the time of the change, or name of the operator's token. */
  readonly name: string | null;
  /** Session of the portal; absent for other actors. */
  readonly portal?: { readonly sessionId: string; readonly user: string | null };
}

interface Changed<Kind extends string, T> {
  readonly kind: Kind;
  readonly after: T;
  /** State before the change; `null` if the resource is new. */
  readonly before: T | null;
}

/** Use of a quota in one window. */
export interface QuotaUse {
  readonly period: Extract<LimitPeriod, 'day' | 'month'>;
  readonly unit: LimitUnit;
  /** Maximum number of requests or units in the window. */
  readonly quota: number;
  /**
   * Number of requests that replicas have let through, or may still let through without asking the store; or number of
   * units.
   */
  readonly used: number;
  readonly startsAt: Date;
}

/** The resource that changed (for `plan.deleted`, as it was), or the quota that is nearly or fully used up. */
export type EventSubject =
  | Changed<'account', ParentAccount>
  | Changed<'sub_account', SubAccount>
  | Changed<'api_key', ApiKey>
  | Changed<'quota', QuotaUse>
  | Changed<'plan', Plan>;

/** A change to an account, a key or a plan, or a quota that is nearly or fully used up. */
export interface Event {
  readonly id: EventId;
  readonly type: EventType;
  readonly createdAt: Date;
  /** Id of the parent, even if a sub-account changed; `null` if the event is about a plan. */
  readonly accountId: AccountId | null;
  readonly subAccountId: AccountId | null;
  readonly actor: EventActor;
  /**
   * Id of the request that made the change; `null` if there was no request.
   */
  readonly requestId: string | null;
  /** Address of the client that sent the request; `null` if it is not known. */
  readonly address: string | null;
  readonly subject: EventSubject;
}
