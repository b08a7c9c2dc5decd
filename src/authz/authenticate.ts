import { digestSecret, parseApiKey, type KeyDigest } from '../domain/api-key.ts';
import type { Caller } from '../domain/caller.ts';
import type { Problem, ProblemCode } from '../domain/problem.ts';
import { type AccountFact, type KeyFact, factKey } from '../ports/facts.ts';
import { MissingFact, type Facts } from '../ports/directory.ts';

/** What an `Authorization` header holds, without any look-up. */
export type Credentials = { readonly digest: KeyDigest } | { readonly problem: Problem };

/** Who the caller is, or why not. */
export type Authentication = { readonly caller: Caller } | { readonly problem: Problem };

const bearer = /^bearer +([^ ,]+)$/i;

/**
 * Reads the API key (spec section 5, rule 1; RFC 6750 §2.1). A key with a wrong checksum costs no look-up.
 *
 * @param authorization every value of the header; two values are rejected, since another reader could take the other one
 */
export function readCredentials(authorization: readonly string[]): Credentials {
  const value = authorization[0];
  if (value === undefined) {
    return rejected('unauthenticated', 'Send an API key: `Authorization: Bearer <API_KEY>`.');
  }
  if (authorization.length > 1)
    return rejected('unauthenticated', 'The Authorization header was sent more than once.');
  const token = bearer.exec(value)?.[1];
  if (token === undefined) {
    return rejected('unauthenticated', 'The Authorization header must read `Bearer <API_KEY>`.');
  }
  const key = parseApiKey(token);
  return key === undefined
    ? rejected('invalid_api_key', 'This is not an API key of this service: it is mistyped or cut short.')
    : { digest: digestSecret(key) };
}

/**
 * Finds out who calls: the key must be known, not revoked, not expired; its account and that account's parent
 * must be active. Pure over `facts`; returns {@link MissingFact} where one must be loaded first.
 *
 * @param nowMs milliseconds since 1970
 */
export function authenticate(facts: Facts, digest: KeyDigest, nowMs: number): Authentication | MissingFact {
  const key = facts.key(digest);
  if (key === undefined) return new MissingFact(factKey.key(digest));
  if (key === null) return rejected('invalid_api_key', 'There is no such API key.');
  if (key.revoked) return rejected('api_key_revoked', 'This API key was revoked.');
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) {
    return rejected('api_key_expired', 'This API key has expired.');
  }
  const account = facts.account(key.accountId);
  if (account === undefined) return new MissingFact(factKey.account(key.accountId));
  if (account === null) return rejected('invalid_api_key', 'There is no such API key.');
  return account.parentId === null ? parentCaller(key, account) : subAccountCaller(facts, key, account);
}

function parentCaller(key: KeyFact, account: AccountFact): Authentication {
  if (account.status !== 'active') return suspended;
  return { caller: { kind: 'parent', accountId: account.id, keyId: key.keyId, scopes: key.scopes } };
}

function subAccountCaller(facts: Facts, key: KeyFact, account: AccountFact): Authentication | MissingFact {
  const parentId = account.parentId;
  if (parentId === null) return parentCaller(key, account);
  if (account.status !== 'active') {
    return rejected(
      'account_deactivated',
      'The sub-account of this API key is deactivated. Its keys work again once it is reactivated.',
    );
  }
  const parent = facts.account(parentId);
  if (parent === undefined) return new MissingFact(factKey.account(parentId));
  if (parent?.status !== 'active') return suspended;
  return {
    caller: {
      kind: 'sub-account',
      accountId: account.id,
      keyId: key.keyId,
      scopes: key.scopes,
      parentId,
      externalId: account.externalId,
    },
  };
}

const suspended = rejected(
  'account_suspended',
  'The account is suspended. Talk to the operator of this service.',
);

function rejected(code: ProblemCode, detail: string): { readonly problem: Problem } {
  return { problem: { code, detail } };
}
