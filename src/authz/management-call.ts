import {
  headerForms,
  methodKind,
  readActingHeader,
  type ActingHeader,
  type MethodKind,
} from '../domain/acting-decision.ts';
import type { KeyDigest } from '../domain/api-key.ts';
import type { Caller, ParentCaller } from '../domain/caller.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import { insufficientScope } from '../domain/scope.ts';
import type { Problem } from '../domain/problem.ts';
import { authenticate, type Credentials } from './authenticate.ts';
import { MissingFact, type Facts } from '../ports/directory.ts';
import { factKey } from '../ports/facts.ts';

/** The operation that a management call's method and path lead to. */
export interface ManagementOperation {
  /** Scope that the operation requires (spec section 5, rule 3); absent if it requires none. */
  readonly scope?: string;
  /**
   * Rejection if no operation has the call's path and method: 405 if the path supports other methods, 404 if the path
   * is unknown.
   */
  readonly rejection?: Problem;
}

/** The parts of a management call that the decision depends on. Reading them takes no look-up. */
export interface ManagementCall {
  readonly digest: KeyDigest;
  readonly header: ActingHeader;
  /** An unknown method counts as a write. Such a call is rejected anyway, because no operation has this method. */
  readonly method: MethodKind;
  readonly operation: ManagementOperation;
}

/**
 * The caller if the call is admitted, otherwise a problem. In a rejection, `caller` and `keyId` are `null` if they are
 * not known.
 */
export type ManagementDecision =
  | { readonly caller: ParentCaller }
  | { readonly problem: Problem; readonly caller: Caller | null; readonly keyId: KeyId | null };

/** Settings for the acting header on management calls. */
export interface HeaderRule {
  /** Name of the header. */
  readonly name: string;
  readonly required: boolean;
}

/**
 * Reads a call. Returns a problem if its credentials are unusable.
 *
 * @param credentials as read from the headers of the call
 * @param acting every value of the acting header
 */
export function readManagementCall(
  method: string,
  credentials: Credentials,
  acting: readonly string[],
  operation: ManagementOperation,
): ManagementCall | { readonly problem: Problem } {
  if ('problem' in credentials) return credentials;
  const header = readActingHeader(acting);
  return { digest: credentials.digest, header, method: methodKind(method) ?? 'write', operation };
}

/**
 * Decides whether to admit a management call. The checks run in a fixed order: the caller, whether it is a parent, the
 * operation, the scope of the key, the acting header. Synchronous and free of side effects. Returns a {@link
 * MissingFact} if a fact has to be loaded first.
 *
 * @param nowMs milliseconds since 1970
 */
export function decideManagementCall(
  facts: Facts,
  call: ManagementCall,
  rule: HeaderRule,
  nowMs: number,
): ManagementDecision | MissingFact {
  const who = authenticate(facts, call.digest, nowMs);
  if (who instanceof MissingFact) return who;
  const keyId = facts.key(call.digest)?.keyId ?? null;
  if ('problem' in who) return { problem: who.problem, caller: null, keyId };
  const { caller } = who;
  if (caller.kind !== 'parent') return { problem: parentKeyRequired, caller, keyId };
  const { rejection, scope } = call.operation;
  if (rejection !== undefined) return { problem: rejection, caller, keyId };
  if (scope !== undefined && !caller.scopes.includes(scope))
    return { problem: insufficientScope(scope), caller, keyId };
  const problem = headerProblem(facts, call, rule, caller);
  if (problem instanceof MissingFact) return problem;
  return problem === undefined ? { caller } : { problem, caller, keyId };
}

function headerProblem(
  facts: Facts,
  { header, method }: ManagementCall,
  { name, required }: HeaderRule,
  { accountId }: ParentCaller,
): Problem | undefined | MissingFact {
  let active: number | null = 0;
  if (required && method === 'write' && header.form === 'absent') {
    const count = facts.activeSubAccounts(accountId);
    if (count === undefined) return new MissingFact(factKey.activeSubAccounts(accountId));
    active = count;
  }
  // A count of `null` means that the account is unknown. Such an account is treated as having active sub-accounts.
  return managementHeaderFault(
    accountId,
    header,
    method,
    { required, hasActiveSubAccounts: active !== 0 },
    name,
  );
}

/**
 * Checks the acting header of a management call. The sub-account is named in the path, and the call always acts as the
 * parent. The header may therefore name only the parent itself. If `required` is set, a parent with active sub-accounts
 * must send the header with every write, as the spec literally demands (section 4, acting header rule 1).
 *
 * @returns the problem, or `undefined` if the header is acceptable
 */
export function managementHeaderFault(
  self: AccountId,
  header: ActingHeader,
  method: MethodKind,
  rule: { readonly required: boolean; readonly hasActiveSubAccounts: boolean },
  name: string,
): Problem | undefined {
  switch (header.form) {
    case 'absent':
      return rule.required && method === 'write' && rule.hasActiveSubAccounts
        ? { code: 'acting_tenant_required', detail: `${name} is required on this call: send \`self\`.` }
        : undefined;
    case 'self':
      return undefined;
    case 'malformed':
      return {
        code: 'invalid_acting_tenant',
        detail: `${name} is not valid. ${header.reason} ${headerForms(name)}`,
      };
    case 'uuid':
      if (header.id === self) return undefined;
      break;
    case 'external-id':
      break;
  }
  return {
    code: 'acting_tenant_forbidden',
    detail: `Management calls act as the parent account: leave ${name} out, or send \`self\`. The path names the sub-account.`,
  };
}

const parentKeyRequired: Problem = {
  code: 'parent_key_required',
  detail: 'Sub-accounts are managed with a key of their parent account. This key belongs to a sub-account.',
};
