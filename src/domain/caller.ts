import type { AccountId, KeyId } from './ids.ts';

interface KeyHolder {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly scopes: readonly string[];
}

/** A request made with a key of a parent account. */
export interface ParentCaller extends KeyHolder {
  readonly kind: 'parent';
}

/** A request made with a key minted for a sub-account. */
export interface SubAccountCaller extends KeyHolder {
  readonly kind: 'sub-account';
  readonly parentId: AccountId;
  readonly externalId: string | null;
}

/** Who sent the request, as its API key says (spec section 5, rule 2). */
export type Caller = ParentCaller | SubAccountCaller;
