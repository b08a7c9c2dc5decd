import { apiKeyReader, digestSecret, isOwnKey, type KeyDigest } from '../domain/api-key.ts';
import {
  authorizationReader,
  formOf,
  keyOfBasic,
  usualSchemes,
  type AuthorizationScheme,
} from '../domain/authorization.ts';
import { callerProblems, type Caller } from '../domain/caller.ts';
import type { AccountId } from '../domain/ids.ts';
import type { Problem, ProblemCode } from '../domain/problem.ts';
import { type AccountFact, type KeyFact, factKey } from '../ports/facts.ts';
import { MissingFact, type Facts } from '../ports/directory.ts';

/** Values of the headers that can carry an API key, in the order in which they were sent. */
export interface CredentialHeaders {
  readonly authorization: readonly string[];
  /** Values of the headers listed in `authentication.headers`. Each value is a bare API key. */
  readonly apiKeys: readonly string[];
}

/**
 * Digest of the API key in the headers, or the problem if the headers hold no usable key. The digest has not been
 * looked up yet, so the key may not exist.
 */
export type Credentials = { readonly digest: KeyDigest } | { readonly problem: Problem };

/** A caller and the facts that identify it. */
export interface Authenticated {
  readonly caller: Caller;
  readonly key: KeyFact;
  readonly account: AccountFact;
  /** Parent of the caller's account; `null` if the caller is a parent. */
  readonly parent: AccountFact | null;
}

/** The caller, or the problem if its key is rejected. */
export type Authentication = Authenticated | { readonly problem: Problem };

/** Reads the API key of a request without looking it up. */
export type ReadCredentials = (sent: CredentialHeaders) => Credentials;

/**
 * Returns a function that reads credentials (spec section 5, rule 1; RFC 6750 §2.1). The function rejects keys with a
 * wrong checksum, so that they need not be looked up. It also rejects requests with more than one credential: the
 * upstream might use a credential that the gateway did not check.
 *
 * @param prefix prefix of new keys
 * @param headers names of the headers, besides `Authorization`, whose whole value is a key
 * @param schemes schemes in which `Authorization` may carry a key
 */
export function credentialReader(
  prefix: string,
  headers: readonly string[],
  schemes: readonly AuthorizationScheme[] = usualSchemes,
): ReadCredentials {
  const readApiKey = apiKeyReader(prefix);
  const readAuthorization = authorizationReader(schemes);
  const ways = [
    ...schemes.map((scheme) => `Authorization: ${formOf(scheme)}`),
    ...headers.map((name) => `${name}: <API_KEY>`),
  ];
  const missing = rejected(
    'unauthenticated',
    `Send an API key: ${ways.map((way) => `\`${way}\``).join(' or ')}.`,
  );

  return ({ authorization, apiKeys }) => {
    if (authorization.length + apiKeys.length > 1)
      return authorization.length > 1 ? repeatedAuthorization : secondCredential;
    const value = authorization[0];
    let token = value === undefined ? apiKeys[0] : readAuthorization(value);
    if (typeof token === 'object') {
      if ('problem' in token) return token;
      if (token.password !== '' && isOwnKey(token.user)) return keyWithPassword;
      token = keyOfBasic(token);
    }
    if (token === undefined || token === '') return missing;
    const key = readApiKey(token);
    return key === undefined ? notAnApiKey : { digest: digestSecret(key) };
  };
}

/**
 * Identifies the caller. The key must exist, and must not be revoked or expired. The key's account must be active. If
 * the account has a parent, the parent must be active, too. If either was deleted, the key counts as revoked, even
 * before the store has revoked it. Synchronous and free of side effects. Returns a {@link MissingFact} if a fact has to
 * be loaded first.
 *
 * @param nowMs milliseconds since 1970
 */
export function authenticate(facts: Facts, digest: KeyDigest, nowMs: number): Authentication | MissingFact {
  const key = facts.key(digest);
  if (key === undefined) return new MissingFact(factKey.key(digest));
  if (key === null) return unknown;
  if (key.revoked) return revoked;
  const account = facts.account(key.accountId);
  if (account === undefined) return new MissingFact(factKey.account(key.accountId));
  if (account === null) return unknown;
  if (account.status === 'deleted') return revoked;
  if (account.parentId === null) return isExpired(key, nowMs) ? expired : parentCaller(key, account);
  const parent = facts.account(account.parentId);
  if (parent === undefined) return new MissingFact(factKey.account(account.parentId));
  if (parent?.status === 'deleted') return revoked;
  return isExpired(key, nowMs) ? expired : subAccountCaller(key, account, account.parentId, parent);
}

function isExpired({ expiresAtMs }: KeyFact, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs;
}

function parentCaller(key: KeyFact, account: AccountFact): Authentication {
  if (account.status !== 'active') return suspended;
  const { keyId, scopes } = key;
  return {
    caller: { kind: 'parent', accountId: account.id, keyId, scopes, externalId: account.externalId },
    key,
    account,
    parent: null,
  };
}

function subAccountCaller(
  key: KeyFact,
  account: AccountFact,
  parentId: AccountId,
  parent: AccountFact | null,
): Authentication {
  if (account.status !== 'active') {
    return rejected(
      'account_deactivated',
      'The sub-account of this API key is deactivated. Its keys work again once it is reactivated.',
    );
  }
  if (parent?.status !== 'active') return suspended;
  return {
    caller: {
      kind: 'sub-account',
      accountId: account.id,
      keyId: key.keyId,
      scopes: key.scopes,
      externalId: account.externalId,
      parentId,
      parentExternalId: parent.externalId,
    },
    key,
    account,
    parent,
  };
}

const repeatedAuthorization = rejected(
  'unauthenticated',
  'The Authorization header was sent more than once.',
);
const secondCredential = rejected(
  'unauthenticated',
  'The request carries more than one credential: send one, in one header.',
);
const keyWithPassword = rejected(
  'unauthenticated',
  'The user name after `Basic` is an API key, so the password must be empty.',
);
const notAnApiKey = rejected(
  'invalid_api_key',
  'This is not an API key of this service: it is mistyped or cut short.',
);

const unknown = { problem: callerProblems.unknown };
const revoked = { problem: callerProblems.revoked };
const expired = { problem: callerProblems.expired };
const suspended = { problem: callerProblems.suspended };

function rejected(code: ProblemCode, detail: string): { readonly problem: Problem } {
  return { problem: { code, detail } };
}
