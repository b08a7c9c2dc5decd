import type { AccountId, KeyId } from './ids.ts';
import type { Problem } from './problem.ts';

interface KeyHolder {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly scopes: readonly string[];
  /** `external_id` of the account. */
  readonly externalId: string | null;
}

/** Caller with a parent account's key. */
export interface ParentCaller extends KeyHolder {
  readonly kind: 'parent';
}

/** Caller with a sub-account's key. */
export interface SubAccountCaller extends KeyHolder {
  readonly kind: 'sub-account';
  readonly parentId: AccountId;
  readonly parentExternalId: string | null;
}

/** Sender of a request, identified by its API key (spec section 5, rule 2). */
export type Caller = ParentCaller | SubAccountCaller;

/** Returns the parent that a caller is, or belongs to. */
export function parentOf(caller: Caller): AccountId {
  return caller.kind === 'parent' ? caller.accountId : caller.parentId;
}

/**
 * Problems to report if the caller's key may not be used. The key is checked when a request arrives, and again in the
 * transaction that makes a change. Both checks report these problems.
 */
export const callerProblems = {
  unknown: { code: 'invalid_api_key', detail: 'There is no such API key.' },
  revoked: { code: 'api_key_revoked', detail: 'This API key was revoked.' },
  expired: { code: 'api_key_expired', detail: 'This API key has expired.' },
  suspended: {
    code: 'account_suspended',
    detail: 'The account is suspended. Contact the operator of this service.',
  },
  sessionEnded: {
    code: 'unauthenticated',
    detail: 'This session has ended. Open the portal anew from where you came.',
  },
} as const satisfies Record<string, Problem>;
