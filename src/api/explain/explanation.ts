import { Type } from 'typebox';
import { decideManagementCall } from '../../authz/management-call.ts';
import {
  decideProxiedRequest,
  type Admission,
  type ProxiedRequest,
  type RouteRules,
} from '../../authz/proxied-request.ts';
import type { Permit } from '../../domain/acting-decision.ts';
import type { Caller } from '../../domain/caller.ts';
import { parseAccountId, parseKeyId, type AccountId } from '../../domain/ids.ts';
import type { Problem } from '../../domain/problem.ts';
import { noSuch, type Thing } from '../../domain/no-such.ts';
import { notFound } from '../../http/not-found.ts';
import { problemMembers, type ProblemMembers } from '../../http/problem-body.ts';
import type { Clock } from '../../ports/clock.ts';
import { decideWithLookups, MissingFact, type Directory } from '../../ports/directory.ts';
import { factKey } from '../../ports/facts.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { FoundOperation } from '../operations.ts';
import { nullableText } from '../rest/typebox.ts';

/** Destination of a request, as the public listener would choose it. */
export type Destination =
  | { readonly kind: 'route'; readonly prefix: string; readonly rules: RouteRules }
  /** An open route, which checks no key. */
  | { readonly kind: 'open'; readonly prefix: string }
  | ({ readonly kind: 'management' } & FoundOperation)
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected'; readonly problem: Problem };

/** Finds the destination for a method and path, using the same functions as for real requests. */
export type DestinationOf = (method: string, path: string) => Destination;

/** Dependencies of {@link explain}. */
export interface ExplanationDeps {
  readonly directory: Pick<Directory, 'decide' | 'lookUp'>;
  readonly tenants: Pick<TenantStore, 'keyDigest' | 'getSubAccount'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly config: {
    readonly headers: { readonly acting: string };
    readonly management: { readonly requireActingHeader: boolean };
    readonly problems: { readonly typeBase: string };
  };
  readonly destinationOf: DestinationOf;
}

/** Decision that the gateway would make about a request. `caller` is `null` if the key is invalid or not checked. */
export type Explained =
  | {
      readonly caller: Caller;
      readonly permit: Pick<Permit, 'resolvedTenant' | 'reason'>;
      /** Limits that the request would count against. */
      readonly limitedBy?: Admission['limitedBy'];
    }
  /** The path is public, so no key is checked. */
  | { readonly caller: null; readonly open: true }
  | { readonly caller: Caller | null; readonly problem: Problem };

/**
 * Makes the decision about a request without sending it, using the same functions of `src/authz` as for real requests.
 */
export async function explain(
  destination: Destination,
  request: ProxiedRequest,
  deps: ExplanationDeps,
): Promise<Explained> {
  const { directory, clock } = deps;
  switch (destination.kind) {
    case 'route':
      return decideWithLookups(directory, (facts) =>
        decideProxiedRequest(facts, request, destination.rules, clock.wallMs()),
      );
    case 'open':
      return { caller: null, open: true };
    case 'management':
      return explainManagementCall(destination, request, deps);
    case 'rejected':
      return { problem: destination.problem, caller: null };
    case 'none':
      return { problem: notFound, caller: null };
  }
}

async function explainManagementCall(
  { operation, parameters, open }: FoundOperation,
  { digest, acting, method }: ProxiedRequest,
  deps: ExplanationDeps,
): Promise<Explained> {
  if (open) return { caller: null, open };
  const { directory, clock, config } = deps;
  const rule = { name: config.headers.acting, required: config.management.requireActingHeader };
  const call = { digest, header: acting, method, operation };
  const decision = await decideWithLookups(directory, (facts) =>
    decideManagementCall(facts, call, rule, clock.wallMs()),
  );
  if ('problem' in decision) return decision;
  const { caller } = decision;
  const missing = await missingThing(parameters, caller.accountId, deps);
  if (missing !== null) return { caller, problem: noSuch(missing) };
  const reason = acting.form === 'absent' ? 'self-by-default' : 'self';
  return { caller, permit: { resolvedTenant: caller.accountId, reason } };
}

/**
 * Checks that the sub-account in the path belongs to the parent, and that the key in the path belongs to the
 * sub-account. Returns the missing thing, a sub-account or an API key; `null` if nothing is missing.
 */
async function missingThing(
  { sub_id, owner_id = sub_id, key_id }: FoundOperation['parameters'],
  parent: AccountId,
  { tenants, directory }: ExplanationDeps,
): Promise<Thing | null> {
  if (owner_id === undefined) return null;
  const owner = parseAccountId(owner_id);
  if (!owner || (await tenants.getSubAccount(parent, owner)) === null) return 'sub-account';
  if (key_id === undefined) return null;
  const id = parseKeyId(key_id);
  const digest = id && (await tenants.keyDigest(id));
  if (!digest) return 'API key';
  const { holder } = await decideWithLookups(directory, (facts) => {
    const key = facts.key(digest);
    return key === undefined ? new MissingFact(factKey.key(digest)) : { holder: key?.accountId };
  });
  return holder === owner ? null : 'API key';
}

/** Members that describe a decision in responses. A member that does not apply is `null`. */
export const decisionFields = {
  decision: Type.Enum(['permit', 'refuse']),
  resolved_tenant: nullableText(),
  reason: nullableText({ description: 'the reason of a permit, or the code of the problem' }),
  problem: Type.Unsafe<ProblemMembers | null>({ type: ['object', 'null'], additionalProperties: true }),
};

/** Returns the response members for a decision. @param typeBase start of the `type` of a problem */
export function decisionToBody(explained: Explained, typeBase: string) {
  const permit = 'permit' in explained ? explained.permit : null;
  const problem = 'problem' in explained ? explained.problem : null;
  return {
    decision: problem === null ? ('permit' as const) : ('refuse' as const),
    resolved_tenant: permit?.resolvedTenant ?? null,
    reason: permit?.reason ?? problem?.code ?? null,
    problem: problem && problemMembers(problem, typeBase),
  };
}
