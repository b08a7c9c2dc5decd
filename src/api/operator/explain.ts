import { Type, type Static } from 'typebox';
import { type Permit, managementHeaderFault } from '../../domain/acting-decision.ts';
import { readActingHeader, type ActingHeader } from '../../domain/acting-header.ts';
import type { KeyDigest } from '../../domain/api-key.ts';
import type { Caller } from '../../domain/caller.ts';
import { parseKeyId } from '../../domain/ids.ts';
import { methodKind, servedMethods, type MethodKind } from '../../domain/method.ts';
import { catalogue, type Problem } from '../../domain/problem.ts';
import { insufficientScope, managementScopes } from '../../domain/scope.ts';
import { authenticate } from '../../authz/authenticate.ts';
import { found } from '../../http/not-found.ts';
import { closed, noQuery, type TypedApp } from '../rest/typebox.ts';
import type { Clock } from '../../ports/clock.ts';
import { Wanted, type Directory, type Facts } from '../../ports/directory.ts';
import { factKey } from '../../ports/facts.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';

interface Claims {
  readonly digest: KeyDigest;
  readonly acting: ActingHeader;
  readonly method: MethodKind;
}

type Verdict =
  | { readonly caller: Caller; readonly permit: Pick<Permit, 'resolvedTenant' | 'reason'> }
  | { readonly problem: Problem; readonly caller: Caller | null };

/** Where a path leads; `decide` is what a request on that way is decided by. */
export type Way =
  | {
      readonly kind: 'route';
      readonly route: string;
      readonly decide: (facts: Facts, claims: Claims) => Verdict | Wanted;
    }
  | { readonly kind: 'management' }
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly problem: Problem };

/** What explaining needs. The way of a path and the decision on it are the gateway's own, so they cannot differ. */
export interface ExplainDeps {
  readonly directory: Pick<Directory, 'settle'>;
  readonly tenants: Pick<TenantStore, 'keyDigest'>;
  readonly clock: Clock;
  readonly config: {
    readonly headers: { readonly acting: string };
    readonly management: { readonly requireActingHeader: boolean };
  };
  readonly wayOf: (path: string) => Way;
}

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
    const claims: Claims = {
      digest,
      acting: readActingHeader(body.acting_tenant === undefined ? [] : [body.acting_tenant]),
      method: methodKind(body.method) ?? 'write',
    };
    const way = deps.wayOf(body.path);
    const verdict = await new Promise<Verdict>((resolve, reject) => {
      deps.directory.settle((facts) => decideOn(way, facts, claims, deps), resolve, reject);
    });
    return answer(way, body, verdict, claims);
  });
}

function decideOn(way: Way, facts: Facts, claims: Claims, deps: ExplainDeps): Verdict | Wanted {
  switch (way.kind) {
    case 'route':
      return way.decide(facts, claims);
    case 'management':
      return decideManagement(facts, claims, deps);
    case 'refused':
      return { problem: way.problem, caller: null };
    case 'none':
      return { problem: { code: 'not_found', detail: 'No route takes this path.' }, caller: null };
  }
}

function decideManagement(facts: Facts, claims: Claims, { clock, config }: ExplainDeps): Verdict | Wanted {
  const who = authenticate(facts, claims.digest, clock.wallMs());
  if (who instanceof Wanted) return who;
  if ('problem' in who) return { ...who, caller: null };
  const { caller } = who;
  if (caller.kind === 'sub-account') return { caller, problem: parentOnly };
  const scope = managementScopes[claims.method];
  if (!caller.scopes.includes(scope)) return { caller, problem: insufficientScope(scope) };
  const active = facts.activeSubAccounts(caller.accountId);
  if (active === undefined) return new Wanted(factKey.activeSubAccounts(caller.accountId));
  const rule = { required: config.management.requireActingHeader, hasActiveSubAccounts: active !== 0 };
  const problem = managementHeaderFault(
    caller.accountId,
    claims.acting,
    claims.method,
    rule,
    config.headers.acting,
  );
  if (problem !== undefined) return { caller, problem };
  const reason = claims.acting.form === 'absent' ? 'self-by-default' : 'self';
  return { caller, permit: { resolvedTenant: caller.accountId, reason } };
}

function answer(way: Way, { method, path }: Static<typeof question>, verdict: Verdict, claims: Claims) {
  const { caller } = verdict;
  const permit = 'permit' in verdict ? verdict.permit : null;
  const problem = 'problem' in verdict ? verdict.problem : null;
  return {
    allowed: permit !== null,
    acts_as: permit?.resolvedTenant ?? null,
    reason: permit?.reason ?? problem?.code ?? null,
    because: problem?.detail ?? because(permit?.reason, caller, claims),
    status: problem === null ? null : catalogue[problem.code].status,
    request: { method, path, route: way.kind === 'route' ? way.route : way.kind },
    caller: caller && {
      kind: caller.kind,
      account_id: caller.accountId,
      parent_id: caller.kind === 'sub-account' ? caller.parentId : null,
      key_id: caller.keyId,
      scopes: caller.scopes,
    },
  };
}

function because(reason: Permit['reason'] | undefined, caller: Caller | null, { method }: Claims): string {
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

const parentOnly: Problem = {
  code: 'parent_key_required',
  detail: 'Sub-accounts are managed with a key of their parent account.',
};
