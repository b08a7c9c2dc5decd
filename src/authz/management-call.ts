import type { FastifyContextConfig } from 'fastify';
import { managementHeaderFault } from '../domain/acting-decision.ts';
import { readActingHeader, type ActingHeader } from '../domain/acting-header.ts';
import type { KeyDigest } from '../domain/api-key.ts';
import type { ParentCaller } from '../domain/caller.ts';
import { methodKind, type MethodKind } from '../domain/method.ts';
import type { Problem } from '../domain/problem.ts';
import { insufficientScope } from '../domain/scope.ts';
import { authenticate, readCredentials } from './authenticate.ts';
import { headerValues } from '../http/raw-headers.ts';
import { Wanted, type Facts } from '../ports/directory.ts';
import { factKey } from '../ports/facts.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope an operation asks for (spec section 5, rule 3). */
    readonly scope?: string;
  }
}

/** What a management call is judged by, read from the request before anything is looked up. */
export interface ManagementCall {
  readonly digest: KeyDigest;
  readonly header: ActingHeader;
  /** Methods that are not served are writes, in case anybody should ask. */
  readonly method: MethodKind;
  readonly operation: FastifyContextConfig;
}

/** What the configuration says about the acting header on management calls. */
export interface HeaderRule {
  /** The header's name. */
  readonly name: string;
  readonly required: boolean;
}

/** Reads a call; the problem where it does not even carry an API key. */
export function readCall(
  method: string,
  rawHeaders: readonly string[],
  operation: FastifyContextConfig,
  actingHeader: string,
): ManagementCall | { readonly problem: Problem } {
  const credentials = readCredentials(headerValues(rawHeaders, 'authorization'));
  if ('problem' in credentials) return credentials;
  const header = readActingHeader(headerValues(rawHeaders, actingHeader.toLowerCase()));
  return { digest: credentials.digest, header, method: methodKind(method) ?? 'write', operation };
}

/**
 * Judges a management call, in the one order there is: who calls, whether that is a parent, whether there is such an
 * operation, whether the key has its scope, and what the acting header says. Pure over `facts`.
 *
 * @param nowMs milliseconds since 1970
 */
export function judge(
  facts: Facts,
  call: ManagementCall,
  rule: HeaderRule,
  nowMs: number,
): { readonly caller: ParentCaller } | { readonly problem: Problem } | Wanted {
  const who = authenticate(facts, call.digest, nowMs);
  if (who instanceof Wanted || 'problem' in who) return who;
  const { caller } = who;
  if (caller.kind !== 'parent') return { problem: parentKeyRequired };
  if (call.operation.refusal !== undefined) return { problem: call.operation.refusal };
  const { scope } = call.operation;
  if (scope !== undefined && !caller.scopes.includes(scope)) return { problem: insufficientScope(scope) };
  const problem = headerProblem(facts, call, rule, caller);
  if (problem instanceof Wanted) return problem;
  return problem === undefined ? { caller } : { problem };
}

function headerProblem(
  facts: Facts,
  { header, method }: ManagementCall,
  { name, required }: HeaderRule,
  { accountId }: ParentCaller,
): Problem | undefined | Wanted {
  let active: number | null = 0;
  if (required && method === 'write' && header.form === 'absent') {
    const count = facts.activeSubAccounts(accountId);
    if (count === undefined) return new Wanted(factKey.activeSubAccounts(accountId));
    active = count;
  }
  // An account without a count is one nobody knows anything about: it gets the answer of one that has sub-accounts.
  return managementHeaderFault(
    accountId,
    header,
    method,
    { required, hasActiveSubAccounts: active !== 0 },
    name,
  );
}

const parentKeyRequired: Problem = {
  code: 'parent_key_required',
  detail: 'Sub-accounts are managed with a key of their parent account. This key belongs to a sub-account.',
};
