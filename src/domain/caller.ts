import type { AccountId, KeyId } from './ids.ts';
import type { Problem } from './problem.ts';

interface KeyHolder {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly scopes: readonly string[];
  /** Of the account. */
  readonly externalId: string | null;
}

/** A request made with a key of a parent account. */
export interface ParentCaller extends KeyHolder {
  readonly kind: 'parent';
}

/** A request made with a key minted for a sub-account. */
export interface SubAccountCaller extends KeyHolder {
  readonly kind: 'sub-account';
  readonly parentId: AccountId;
  readonly parentExternalId: string | null;
}

/** Who sent the request, as its API key says (spec section 5, rule 2). */
export type Caller = ParentCaller | SubAccountCaller;

/** Why a key may not be used. A change is checked twice, by the guard and where it is made: both give the same problem. */
export const callerProblems = {
  unknown: { code: 'invalid_api_key', detail: 'There is no such API key.' },
  revoked: { code: 'api_key_revoked', detail: 'This API key was revoked.' },
  expired: { code: 'api_key_expired', detail: 'This API key has expired.' },
  suspended: {
    code: 'account_suspended',
    detail: 'The account is suspended. Talk to the operator of this service.',
  },
} as const satisfies Record<string, Problem>;
