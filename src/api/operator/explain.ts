import { Type, type Static } from 'typebox';
import { decideManagementCall } from '../../authz/management-call.ts';
import { decideProxiedRequest, type ProxiedRequest, type RouteRules } from '../../authz/proxied-request.ts';
import { readActingHeader, methodKind, servedMethods, type Permit } from '../../domain/acting-decision.ts';
import type { Caller } from '../../domain/caller.ts';
import { parseAccountId, parseKeyId, type AccountId } from '../../domain/ids.ts';
import { catalogue, type Problem } from '../../domain/problem.ts';
import { found, notFound } from '../../http/not-found.ts';
import type { Clock } from '../../ports/clock.ts';
import { decideWithLookups, MissingFact, type Directory } from '../../ports/directory.ts';
import { factKey } from '../../ports/facts.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { FoundOperation } from '../operations.ts';
import { closed, noQuery, type TypedApp } from '../rest/typebox.ts';

/** Where a path leads, as the public listener finds it. */
export type Destination =
  | { readonly kind: 'route'; readonly prefix: string; readonly rules: RouteRules }
  | ({ readonly kind: 'management' } & FoundOperation)
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected'; readonly problem: Problem };

/** What explaining needs. Where a path leads and what is decided there are the gateway's own functions. */
export interface ExplainDeps {
  readonly directory: Pick<Directory, 'decide' | 'lookUp'>;
  readonly tenants: Pick<TenantStore, 'keyDigest' | 'getSubAccount'>;
  readonly clock: Clock;
  readonly config: {
    readonly headers: { readonly acting: string };
    readonly management: { readonly requireActingHeader: boolean };
  };
  readonly destinationOf: (method: string, path: string) => Destination;
}

/** What the gateway would do with a request. `caller` is known where the key is good. */
type Explained =
  | { readonly caller: Caller; readonly permit: Pick<Permit, 'resolvedTenant' | 'reason'> }
  | { readonly caller: Caller | null; readonly problem: Problem };

const question = closed({
  key_id: Type.String(),
  method: Type.Enum([...servedMethods]),
  path: Type.String({ pattern: '^/', maxLength: 8192, description: 'a path that starts with /' }),
  acting_tenant: Type.Optional(Type.String({ maxLength: 1024 })),
});

/** `POST /explain`: who a request would act as, and why, by the very functions that decide about real ones. */
export function explainRoute(app: TypedApp, deps: ExplainDeps): void {
  app.post('/explain', { schema: { querystring: noQuery, body: question } }, async ({ body }) => {
    const digest = found(await deps.tenants.keyDigest(found(parseKeyId(body.key_id))));
    const request: ProxiedRequest = {
      digest,
      acting: readActingHeader(body.acting_tenant === undefined ? [] : [body.acting_tenant]),
      method: methodKind(body.method) ?? 'write',
    };
    const destination = deps.destinationOf(body.method, body.path);
    return responseBody(destination, body, await explain(destination, request, deps), request);
  });
}

async function explain(
  destination: Destination,
  request: ProxiedRequest,
  deps: ExplainDeps,
): Promise<Explained> {
  const { directory, clock } = deps;
  switch (destination.kind) {
    case 'route':
      return decideWithLookups(directory, (facts) =>
        decideProxiedRequest(facts, request, destination.rules, clock.wallMs()),
      );
    case 'management':
      return explainManagementCall(destination, request, deps);
    case 'rejected':
      return { problem: destination.problem, caller: null };
    case 'none':
      return { problem: noRoute, caller: null };
  }
}

async function explainManagementCall(
  { operation, parameters }: FoundOperation,
  { digest, acting, method }: ProxiedRequest,
  deps: ExplainDeps,
): Promise<Explained> {
  const { directory, clock, config } = deps;
  const rule = { name: config.headers.acting, required: config.management.requireActingHeader };
  const call = { digest, header: acting, method, operation };
  const decision = await decideWithLookups(directory, (facts) =>
    decideManagementCall(facts, call, rule, clock.wallMs()),
  );
  if ('problem' in decision) return decision;
  const { caller } = decision;
  if (!(await exists(parameters, caller.accountId, deps))) return { caller, problem: notFound };
  const reason = acting.form === 'absent' ? 'self-by-default' : 'self';
  return { caller, permit: { resolvedTenant: caller.accountId, reason } };
}

/** Whether the sub-account and the key that a path names are the caller's: another's are not found. */
async function exists(
  { sub_id, owner_id = sub_id, key_id }: FoundOperation['parameters'],
  parent: AccountId,
  { tenants, directory }: ExplainDeps,
): Promise<boolean> {
  if (owner_id === undefined) return true;
  const owner = parseAccountId(owner_id);
  if (!owner || (await tenants.getSubAccount(parent, owner)) === null) return false;
  if (key_id === undefined) return true;
  const id = parseKeyId(key_id);
  const digest = id && (await tenants.keyDigest(id));
  if (!digest) return false;
  const { holder } = await decideWithLookups(directory, (facts) => {
    const key = facts.key(digest);
    return key === undefined ? new MissingFact(factKey.key(digest)) : { holder: key?.accountId };
  });
  return holder === owner;
}

function responseBody(
  destination: Destination,
  { method, path }: Static<typeof question>,
  explained: Explained,
  request: ProxiedRequest,
) {
  const { caller } = explained;
  const permit = 'permit' in explained ? explained.permit : null;
  const problem = 'problem' in explained ? explained.problem : null;
  return {
    allowed: permit !== null,
    acts_as: permit?.resolvedTenant ?? null,
    reason: permit?.reason ?? problem?.code ?? null,
    because: problem?.detail ?? because(permit?.reason, caller, request),
    status: problem === null ? null : catalogue[problem.code].status,
    request: {
      method,
      path,
      route: destination.kind === 'route' ? destination.prefix : routeNames[destination.kind],
    },
    caller: caller && {
      kind: caller.kind,
      account_id: caller.accountId,
      parent_id: caller.kind === 'sub-account' ? caller.parentId : null,
      key_id: caller.keyId,
      scopes: caller.scopes,
    },
  };
}

/** What a path that is no route's is called in explanations since 0.1.0. */
const routeNames = { management: 'management', none: 'none', rejected: 'refused' } as const;

function because(
  reason: Permit['reason'] | undefined,
  caller: Caller | null,
  { method }: ProxiedRequest,
): string {
  switch (reason) {
    case 'sub-account':
      return 'The acting header names an active sub-account of the caller.';
    case 'self':
      return 'The acting header names the caller itself.';
    default:
      if (caller?.kind === 'sub-account')
        return 'There is no acting header, and a sub-account key acts as itself.';
      return method === 'read'
        ? 'There is no acting header, and a read acts as the caller then.'
        : 'There is no acting header, and none is needed: the caller has no active sub-accounts, or this is management.';
  }
}

/** Operators read why there is no such path; clients get the one 404. */
const noRoute: Problem = { code: 'not_found', detail: 'No route takes this path.' };
