import {
  decide,
  factsNeeded,
  rejectingFacts,
  readActingHeader,
  type ActingFacts,
  type FactNeeded,
  type Permit,
  type ActingHeader,
  type MethodKind,
} from '../domain/acting-decision.ts';
import type { KeyDigest } from '../domain/api-key.ts';
import type { Caller } from '../domain/caller.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { Problem } from '../domain/problem.ts';
import { insufficientScope } from '../domain/scope.ts';
import { authenticate, type Authenticated, type Credentials } from './authenticate.ts';
import { MissingFact, type Facts } from '../ports/directory.ts';
import { factKey, type AccountFact, type FactKey } from '../ports/facts.ts';
import type { LimitedBy } from '../ports/limits/rate-limiter.ts';

/** What a proxied request is decided by, read from its head once; deciding may have to happen several times. */
export interface ProxiedRequest {
  readonly digest: KeyDigest;
  readonly acting: ActingHeader;
  readonly method: MethodKind;
}

/** A request that may go to its upstream, on behalf of `permit.resolvedTenant`. */
export interface Admission {
  readonly caller: Caller;
  readonly permit: Permit;
  /** When the key expires, milliseconds since 1970; an exchange that is still under way then is ended. */
  readonly expiresAtMs: number | null;
  /** The limits that it counts against, each of those that have any; `null` where none has. */
  readonly limitedBy: readonly LimitedBy[] | null;
}

/** A request that may not. `caller` is known where only the acting rules or a scope rejected it. */
export interface Rejection {
  readonly problem: Problem;
  readonly caller: Caller | null;
  /** Of the key that was sent, where there is such a key: an operator finds uses of a revoked key in the log by it. */
  readonly keyId: KeyId | null;
}

/** Who may use a route. */
export interface RouteRules {
  /** Scope a caller must hold, by kind of method; `null` for none. */
  readonly scopes: Readonly<Record<MethodKind, string | null>>;
  /** Name of the acting header, for the details of problems. */
  readonly actingHeader: string;
}

/**
 * Reads what a proxied request is decided by, without any look-up.
 *
 * @param credentials as read from its headers
 * @param acting every value of the acting header
 */
export function readProxiedRequest(
  credentials: Credentials,
  acting: readonly string[],
  method: MethodKind,
): ProxiedRequest | { readonly problem: Problem } {
  if ('problem' in credentials) return credentials;
  return { digest: credentials.digest, acting: readActingHeader(acting), method };
}

/**
 * Decides about a proxied request: who calls, as whom, and whether the route lets them. Synchronous and pure over
 * `facts`, so that what was decided is acted on in the same tick; a {@link MissingFact} where one must be loaded first.
 *
 * @param nowMs milliseconds since 1970
 */
export function decideProxiedRequest(
  facts: Facts,
  request: ProxiedRequest,
  rules: RouteRules,
  nowMs: number,
): Admission | Rejection | MissingFact {
  const authentication = authenticate(facts, request.digest, nowMs);
  if (authentication instanceof MissingFact) return authentication;
  if ('problem' in authentication) {
    const keyId = facts.key(request.digest)?.keyId ?? null;
    return { problem: authentication.problem, caller: null, keyId };
  }
  const { caller } = authentication;

  const found = look(facts, factsNeeded(caller, request.acting, request.method), caller.accountId);
  if (found instanceof MissingFact) return found;
  const decision = decide(caller, request.acting, request.method, found, rules.actingHeader);
  if (decision.kind === 'rejection') return { problem: decision.problem, caller, keyId: caller.keyId };

  const scope = rules.scopes[request.method];
  if (scope !== null && !caller.scopes.includes(scope))
    return { problem: insufficientScope(scope), caller, keyId: caller.keyId };
  const limitedBy = limitsOf(authentication, decision, found.target);
  return { caller, permit: decision, expiresAtMs: authentication.key.expiresAtMs, limitedBy };
}

/**
 * Whose limits count: the key's, the sub-account's that it is resolved to, and the parent's of that, in this order.
 *
 * @param target that the acting header names, where it is not the caller itself
 */
function limitsOf(
  { caller, key, account, parent }: Authenticated,
  { resolvedTenant }: Permit,
  target: AccountFact | null,
): readonly LimitedBy[] | null {
  const top = parent ?? account;
  const resolved = resolvedTenant === account.id ? account : target;
  const sub = resolved === top ? null : resolved;
  if (key.limits === null && top.limits === null && (sub === null || sub.limits === null)) return null;
  const all: LimitedBy[] = [];
  if (key.limits !== null) all.push({ kind: 'api_key', id: key.limitId, limits: key.limits, shown: true });
  if (sub !== null && sub.limits !== null)
    all.push({ kind: 'sub_account', id: sub.id, limits: sub.limits, shown: true });
  if (top.limits !== null)
    all.push({ kind: 'parent', id: top.id, limits: top.limits, shown: caller.kind === 'parent' });
  return all;
}

/** Whether it is known who calls, or that the key is not valid, without loading another fact. */
export function callerKnown(facts: Facts, { digest }: ProxiedRequest, nowMs: number): boolean {
  return !(authenticate(facts, digest, nowMs) instanceof MissingFact);
}

/** When the key of a request expires: milliseconds since 1970, `null` for never. One that there is no more has expired. */
export function expiryOf(facts: Facts, { digest }: ProxiedRequest): number | null | MissingFact {
  const key = facts.key(digest);
  if (key === undefined) return new MissingFact(factKey.key(digest));
  return key === null || key.revoked ? 0 : key.expiresAtMs;
}

/** Facts whose revocation ends what was admitted: the key, its account, that account's parent, and the target. */
export function dependencies(digest: KeyDigest, { caller, permit }: Admission): readonly FactKey[] {
  const keys = [
    factKey.key(digest),
    factKey.account(caller.accountId),
    factKey.account(permit.resolvedTenant),
  ];
  if (caller.kind === 'sub-account') keys.push(factKey.account(caller.parentId));
  return keys;
}

/** What was found for the acting rules; they look at less of a target than the limits do. */
interface FoundFacts extends ActingFacts {
  readonly target: AccountFact | null;
}

const nothingFound: FoundFacts = { ...rejectingFacts, target: null };

/** @param caller who waits for a fact that is missing */
function look(facts: Facts, needed: FactNeeded, caller: AccountId): FoundFacts | MissingFact {
  switch (needed.fact) {
    case 'none':
      return nothingFound;
    case 'active-sub-accounts': {
      const count = facts.activeSubAccounts(needed.parentId);
      if (count === undefined) return new MissingFact(factKey.activeSubAccounts(needed.parentId));
      // The parent was found just now, so a missing count is a contradiction: decide as if there were sub-accounts.
      return { ...nothingFound, hasActiveSubAccounts: count !== 0 };
    }
    case 'target-by-id': {
      const target = facts.account(needed.id);
      return target === undefined
        ? new MissingFact(factKey.account(needed.id), caller)
        : { ...nothingFound, target };
    }
    case 'target-by-external-id': {
      const id = facts.subAccountByExternalId(needed.parentId, needed.externalId);
      if (id === undefined) return new MissingFact(factKey.externalId(needed.parentId, needed.externalId));
      if (id === null) return nothingFound;
      return look(facts, { fact: 'target-by-id', id }, caller);
    }
  }
}
