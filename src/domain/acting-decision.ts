import type { Caller, ParentCaller, SubAccountCaller } from './caller.ts';
import { isExternalId } from './external-id.ts';
import { parseAccountId, type AccountId } from './ids.ts';
import type { Problem } from './problem.ts';

/** Kind of a method under the acting rules (spec section 4, acting header rules 1 and 3). */
export type MethodKind = 'read' | 'write';

/** The parsed acting header. {@link decide} resolves it to a tenant for the caller. */
export type ActingHeader =
  | { readonly form: 'absent' }
  | { readonly form: 'self' }
  | { readonly form: 'uuid'; readonly id: AccountId }
  | { readonly form: 'external-id'; readonly externalId: string }
  | { readonly form: 'malformed'; readonly reason: string };

/** The account that a request names in its acting header, as the directory knows it. */
export interface ActingTarget {
  readonly id: AccountId;
  readonly parentId: AccountId | null;
  readonly externalId: string | null;
  readonly status: 'active' | 'deactivated' | 'suspended' | 'deleted';
}

/** The single look-up that a decision needs, if any. */
export type FactNeeded =
  | { readonly fact: 'none' }
  | { readonly fact: 'active-sub-accounts'; readonly parentId: AccountId }
  | { readonly fact: 'target-by-id'; readonly id: AccountId }
  | { readonly fact: 'target-by-external-id'; readonly parentId: AccountId; readonly externalId: string };

/** Facts for the decision. A fact that was not looked up has its value from {@link rejectingFacts}. */
export interface ActingFacts {
  readonly hasActiveSubAccounts: boolean;
  readonly target: ActingTarget | null;
}

/**
 * Values for facts that were not looked up. They make {@link decide} reject every request that depends on such a fact.
 */
export const rejectingFacts: ActingFacts = { hasActiveSubAccounts: true, target: null };

declare const decided: unique symbol;

/** Proof that {@link decide} admitted a request. Only `decide` can create a permit, and the proxy requires one. */
export interface Permit {
  readonly kind: 'permit';
  readonly resolvedTenant: AccountId;
  readonly resolvedExternalId: string | null;
  /** Parent of the resolved tenant, or the tenant itself if it is a parent. */
  readonly parentTenant: AccountId;
  readonly parentExternalId: string | null;
  readonly reason: 'self-by-default' | 'self' | 'sub-account';
  readonly [decided]: true;
}

/** A rejection under the acting rules. */
export interface ActingRejection {
  readonly kind: 'rejection';
  readonly problem: Problem;
}

/** Result of {@link decide}. */
export type ActingDecision = Permit | ActingRejection;

const nothing: FactNeeded = { fact: 'none' };

/** Returns the single look-up that {@link decide} needs for this request. */
export function factsNeeded(caller: Caller, header: ActingHeader, method: MethodKind): FactNeeded {
  if (caller.kind === 'sub-account') return nothing;
  switch (header.form) {
    case 'absent':
      return method === 'write' ? { fact: 'active-sub-accounts', parentId: caller.accountId } : nothing;
    case 'uuid':
      return header.id === caller.accountId ? nothing : { fact: 'target-by-id', id: header.id };
    case 'external-id':
      return { fact: 'target-by-external-id', parentId: caller.accountId, externalId: header.externalId };
    case 'self':
    case 'malformed':
      return nothing;
  }
}

/**
 * Decides which tenant a request acts as (spec section 4, acting header rules 1 to 5; section 7). The function returns
 * a result for every combination of arguments and uses no I/O, clock or randomness.
 * `test/domain/acting-decision.test.ts` has a table of all cases.
 *
 * @param facts facts that {@link factsNeeded} asked for
 * @param actingHeader name of the header, used in the `detail` text of problems
 */
export function decide(
  caller: Caller,
  header: ActingHeader,
  method: MethodKind,
  facts: ActingFacts,
  actingHeader: string,
): ActingDecision {
  return caller.kind === 'parent'
    ? decideForParent(caller, header, method, facts, actingHeader)
    : decideForSubAccount(caller, header, actingHeader);
}

function decideForParent(
  caller: ParentCaller,
  header: ActingHeader,
  method: MethodKind,
  facts: ActingFacts,
  name: string,
): ActingDecision {
  const self = caller.accountId;
  switch (header.form) {
    case 'absent':
      return method === 'write' && facts.hasActiveSubAccounts
        ? reject('acting_tenant_required', required(name))
        : permitItself(caller, 'self-by-default');
    case 'self':
      return permitItself(caller, 'self');
    case 'malformed':
      return reject('invalid_acting_tenant', `${name} is not valid. ${header.reason} ${headerForms(name)}`);
    case 'uuid':
      return header.id === self ? permitItself(caller, 'self') : decideForTarget(caller, facts.target, name);
    case 'external-id':
      return decideForTarget(caller, facts.target, name);
  }
}

function decideForTarget(parent: ParentCaller, target: ActingTarget | null, name: string): ActingDecision {
  // An unknown id, another parent's id and a deleted id get the same problem, so a client cannot find out which ids
  // exist.
  if (target === null || target.parentId !== parent.accountId || target.status === 'deleted') {
    return reject('acting_tenant_unknown', `${name} names no sub-account of this account.`);
  }
  if (target.status !== 'active') {
    return reject(
      'acting_tenant_deactivated',
      `${name} names a deactivated sub-account. Reactivate it, or act as another one.`,
    );
  }
  return permit(target.id, target.externalId, parent.accountId, parent.externalId, 'sub-account');
}

function decideForSubAccount(caller: SubAccountCaller, header: ActingHeader, name: string): ActingDecision {
  if (header.form === 'absent') return permitItself(caller, 'self-by-default');
  const itself =
    header.form === 'self' ||
    (header.form === 'uuid' && header.id === caller.accountId) ||
    (header.form === 'external-id' && header.externalId === caller.externalId);
  return itself
    ? permitItself(caller, 'self')
    : reject(
        'acting_tenant_forbidden',
        `A sub-account key acts only as itself: leave ${name} out, or send \`self\`.`,
      );
}

function permitItself(caller: Caller, reason: Permit['reason']): Permit {
  const { accountId, externalId } = caller;
  return caller.kind === 'parent'
    ? permit(accountId, externalId, accountId, externalId, reason)
    : permit(accountId, externalId, caller.parentId, caller.parentExternalId, reason);
}

function permit(
  resolvedTenant: AccountId,
  resolvedExternalId: string | null,
  parentTenant: AccountId,
  parentExternalId: string | null,
  reason: Permit['reason'],
): Permit {
  return {
    kind: 'permit',
    resolvedTenant,
    resolvedExternalId,
    parentTenant,
    parentExternalId,
    reason,
  } as Permit;
}

function reject(code: Problem['code'], detail: string): ActingRejection {
  return { kind: 'rejection', problem: { code, detail } };
}

function required(name: string): string {
  return `This account has active sub-accounts, so a write must say who it is for. ${headerForms(name)}`;
}

/**
 * Returns a sentence that lists the valid forms of the acting header, for the `detail` text of a problem.
 *
 * @param name name of the acting header
 */
export function headerForms(name: string): string {
  return `Send \`${name}: self\` (the parent itself), \`${name}: <sub-account UUID>\` or \`${name}: ext:<external_id>\`.`;
}

const kinds: ReadonlyMap<string, MethodKind> = new Map([
  ['GET', 'read'],
  ['HEAD', 'read'],
  ['OPTIONS', 'read'],
  ['POST', 'write'],
  ['PUT', 'write'],
  ['PATCH', 'write'],
  ['DELETE', 'write'],
]);

/** Methods that the gateway serves or forwards; any other method gets 405 and is never proxied. */
export const servedMethods: readonly string[] = [...kinds.keys()];

/**
 * Returns the kind of a method, or `undefined` if the gateway never proxies requests with it. Methods are
 * case-sensitive (RFC 9110 §9.1).
 */
export function methodKind(method: string): MethodKind | undefined {
  return kinds.get(method);
}

const absentHeader: ActingHeader = { form: 'absent' };
const selfHeader: ActingHeader = { form: 'self' };

/**
 * Parses the acting header (spec section 4, "Acting header"). The values must come from the raw headers. A parsed
 * header object may join or drop repeated headers, and that must not affect which tenant a request acts as.
 *
 * @param values every value of the header in the raw headers
 */
export function readActingHeader(values: readonly string[]): ActingHeader {
  const value = values[0];
  if (value === undefined) return absentHeader;
  if (values.length > 1) return malformed('It was sent more than once.');
  if (value === 'self') return selfHeader;
  if (value === '') return malformed('It is empty.');
  if (value.startsWith('ext:')) {
    const externalId = value.slice('ext:'.length);
    return isExternalId(externalId)
      ? { form: 'external-id', externalId }
      : malformed('The text after `ext:` is not an external_id.');
  }
  const id = parseAccountId(value);
  return id === undefined ? malformed('It has another form.') : { form: 'uuid', id };
}

function malformed(reason: string): ActingHeader {
  return { form: 'malformed', reason };
}
