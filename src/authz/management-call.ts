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

/** The operation that the method and the path of a call name. */
export interface ManagementOperation {
  /** The scope it asks for (spec section 5, rule 3); absent where it asks for none. */
  readonly scope?: string;
  /** Set where there is no such operation: 405 on a path that has other methods, 404 on one that is none of ours. */
  readonly rejection?: Problem;
}

/** What a management call is decided by, read from the request before anything is looked up. */
export interface ManagementCall {
  readonly digest: KeyDigest;
  readonly header: ActingHeader;
  /** A method that is not served counts as a write; its operation is a rejection in any case. */
  readonly method: MethodKind;
  readonly operation: ManagementOperation;
}

/** A call that may go on as `caller`; or its problem, with who calls and the id of the key that was sent, where they are known. */
export type ManagementDecision =
  | { readonly caller: ParentCaller }
  | { readonly problem: Problem; readonly caller: Caller | null; readonly keyId: KeyId | null };

/** What the configuration says about the acting header on management calls. */
export interface HeaderRule {
  /** The header's name. */
  readonly name: string;
  readonly required: boolean;
}

/**
 * Reads a call; its problem where it does not even carry an API key.
 *
 * @param credentials as read from its headers
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
 * Decides about a management call, in the one order there is: who calls, whether that is a parent, whether there is such
 * an operation, whether the key has its scope, and what the acting header says. Synchronous and pure over `facts`.
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
  // Without a count nothing is known about the account: the call is treated as if there were active sub-accounts.
  return managementHeaderFault(
    accountId,
    header,
    method,
    { required, hasActiveSubAccounts: active !== 0 },
    name,
  );
}

/**
 * The acting header on a management call. Those are addressed by path, so the header may only repeat that the
 * parent acts as itself; with `required` rule 1 of the spec applies there to the letter.
 *
 * @returns the problem, or `undefined` where the call may go on
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
