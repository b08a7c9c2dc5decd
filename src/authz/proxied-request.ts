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
import { effectiveLimits, hasLimits } from '../domain/limits/plan.ts';
import type { Limits } from '../domain/limits/limits.ts';
import type { LimitedBy } from '../ports/limits/rate-limiter.ts';

/**
 * The parts of a proxied request that the decision depends on. They are read from the request head only once, even if
 * several decisions are made about the request.
 */
export interface ProxiedRequest {
  readonly digest: KeyDigest;
  readonly acting: ActingHeader;
  readonly method: MethodKind;
}

/** Decision to admit a request. The request may go to its upstream on behalf of `permit.resolvedTenant`. */
export interface Admission {
  readonly caller: Caller;
  readonly permit: Permit;
  /**
   * When the key expires, in milliseconds since 1970; `null` if it never expires. If the exchange is still active at
   * that time, the gateway ends it.
   */
  readonly expiresAtMs: number | null;
  /** Limits that the request counts against; `null` if there are none. */
  readonly limitedBy: readonly LimitedBy[] | null;
}

/**
 * Decision to reject a request. If the key is valid, `caller` is set, and the reason is an acting rule or a missing
 * scope. If the key is not valid, `caller` is `null`.
 */
export interface Rejection {
  readonly problem: Problem;
  readonly caller: Caller | null;
  /**
   * Id of the key that was sent, if the key exists. With this id, operators can find uses of a revoked key in the log.
   */
  readonly keyId: KeyId | null;
}

/** A route's rules for its callers. */
export interface RouteRules {
  /** Scope that a caller needs for each kind of method; `null` if none is needed. */
  readonly scopes: Readonly<Record<MethodKind, string | null>>;
  /** Name of the acting header, used in the `detail` text of problems. */
  readonly actingHeader: string;
}

/**
 * Reads the parts of a proxied request that the decision depends on, without any look-up. Returns a problem if the
 * credentials are unusable.
 *
 * @param credentials as read from the headers of the request
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
 * Decides whether to admit a proxied request. Checks the caller, then the resolved tenant, then the scope that the
 * route requires. Synchronous and free of side effects. If the decision is acted on in the same tick, no fact can have
 * changed in between. Returns a {@link MissingFact} if a fact has to be loaded first.
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
  const limitedBy = limitsOf(facts, authentication, decision, found.target);
  if (limitedBy instanceof MissingFact) return limitedBy;
  return { caller, permit: decision, expiresAtMs: authentication.key.expiresAtMs, limitedBy };
}

/**
 * Returns the limits of the key, the resolved sub-account and the parent, in this order; `null` if there are none.
 *
 * @param target account that the acting header names; not used if the request acts as the key's own account
 */
function limitsOf(
  facts: Facts,
  { caller, key, account, parent }: Authenticated,
  { resolvedTenant }: Permit,
  target: AccountFact | null,
): readonly LimitedBy[] | MissingFact | null {
  const top = parent ?? account;
  const limitsOfTop = top.plan === null ? top.limits : limitsByPlan(facts, top.plan);
  if (limitsOfTop instanceof MissingFact) return limitsOfTop;
  const resolved = resolvedTenant === account.id ? account : target;
  const sub = resolved === top ? null : resolved;
  if (key.limits === null && limitsOfTop === null && (sub === null || sub.limits === null)) return null;
  const all: LimitedBy[] = [];
  if (key.limits !== null) all.push({ kind: 'api_key', id: key.limitId, limits: key.limits, shown: true });
  if (sub !== null && sub.limits !== null)
    all.push({ kind: 'sub_account', id: sub.id, limits: sub.limits, shown: true });
  if (limitsOfTop !== null)
    all.push({ kind: 'parent', id: top.id, limits: limitsOfTop, shown: caller.kind === 'parent' });
  return all;
}

/**
 * Returns the limits in force for a parent with a plan; `null` if there are none. An account keeps its plan from being
 * deleted. So if the plan does not exist, it was deleted after the account got another one, which this replica has yet
 * to read. Both are then read again.
 */
function limitsByPlan(
  facts: Facts,
  { name, own }: NonNullable<AccountFact['plan']>,
): Limits | MissingFact | null {
  const plan = facts.plan(name);
  if (plan === undefined || plan === null) return new MissingFact(factKey.plan(name));
  const limits = effectiveLimits(own, plan.limits);
  return hasLimits(limits) ? limits : null;
}

/** Whether the facts in memory are enough to identify the caller or reject the key. */
export function callerKnown(facts: Facts, { digest }: ProxiedRequest, nowMs: number): boolean {
  return !(authenticate(facts, digest, nowMs) instanceof MissingFact);
}

/**
 * Returns when a request's key expires: milliseconds since 1970, `null` for never, 0 if the key is unknown or revoked.
 */
export function expiryOf(facts: Facts, { digest }: ProxiedRequest): number | null | MissingFact {
  const key = facts.key(digest);
  if (key === undefined) return new MissingFact(factKey.key(digest));
  return key === null || key.revoked ? 0 : key.expiresAtMs;
}

/**
 * Returns the facts that an admission depends on: the key, its account, that account's parent, and the resolved tenant.
 * The exchange ends if the key is revoked or if one of the accounts is no longer active.
 */
export function dependencies(digest: KeyDigest, { caller, permit }: Admission): readonly FactKey[] {
  const keys = [
    factKey.key(digest),
    factKey.account(caller.accountId),
    factKey.account(permit.resolvedTenant),
  ];
  if (caller.kind === 'sub-account') keys.push(factKey.account(caller.parentId));
  return keys;
}

/** Facts for the acting rules. `target` is the whole account, because {@link limitsOf} needs the account's limits. */
interface FoundFacts extends ActingFacts {
  readonly target: AccountFact | null;
}

const nothingFound: FoundFacts = { ...rejectingFacts, target: null };

/**
 * Looks up the facts that the acting rules need.
 *
 * @param caller account on whose behalf a missing fact is loaded; accounts take turns at loading
 */
function look(facts: Facts, needed: FactNeeded, caller: AccountId): FoundFacts | MissingFact {
  switch (needed.fact) {
    case 'none':
      return nothingFound;
    case 'active-sub-accounts': {
      const count = facts.activeSubAccounts(needed.parentId);
      if (count === undefined) return new MissingFact(factKey.activeSubAccounts(needed.parentId));
      // A `count` of `null` means that the parent is unknown, which contradicts the other facts. To be safe, such a
      // parent is treated as having active sub-accounts.
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
