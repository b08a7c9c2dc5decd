import { Type, type Static } from 'typebox';
import type { ProxiedRequest } from '../../authz/proxied-request.ts';
import { readActingHeader, methodKind, servedMethods } from '../../domain/acting-decision.ts';
import { parseKeyId } from '../../domain/ids.ts';
import { limitFull } from '../../domain/limits/limit-full.ts';
import { limitPeriods, limitUnits } from '../../domain/limits/limits.ts';
import { catalogue } from '../../domain/problem.ts';
import { found } from '../../http/not-found.ts';
import type { FactsAge } from '../../ports/directory.ts';
import type { LimitState, RateLimiter } from '../../ports/limits/rate-limiter.ts';
import {
  decisionFields,
  decisionToBody,
  explain,
  type Destination,
  type Explained,
  type ExplanationDeps,
} from './explanation.ts';
import { closed, noQuery, nullableInteger, nullableText } from '../rest/typebox.ts';
import { endedBy, endedByBody, type EndedByDeps } from './ended-by.ts';
import type { OperatorApp } from '../operator/operator-token.ts';

export interface ExplainDeps extends ExplanationDeps, EndedByDeps {
  readonly tenants: ExplanationDeps['tenants'] & EndedByDeps['tenants'];
  readonly rateLimiter: Pick<RateLimiter, 'look'>;
  /** Returns how new the facts of this replica are; `null` if it has none. */
  readonly factsAge: () => FactsAge | null;
}

const question = closed({
  key_id: Type.String(),
  method: Type.Enum([...servedMethods]),
  path: Type.String({ pattern: '^/', maxLength: 8192, description: 'a path that starts with /' }),
  acting_tenant: Type.Optional(Type.String({ maxLength: 1024 })),
});

const factsBody = closed({
  replica_id: Type.String(),
  applied: Type.Integer(),
  age_ms: Type.Integer(),
});

const answer = closed({
  allowed: Type.Boolean(),
  acts_as: nullableText(),
  because: Type.String(),
  status: nullableInteger(),
  request: closed({ method: Type.String(), path: Type.String(), route: Type.String() }),
  caller: Type.Unsafe<Static<ReturnType<typeof explainedCaller>> | null>({
    ...explainedCaller(),
    type: ['object', 'null'],
  }),
  limits: Type.Array(
    closed({
      limited: Type.Enum(['api_key', 'sub_account', 'parent']),
      per: Type.Enum([...limitPeriods]),
      unit: Type.Enum([...limitUnits]),
      quota: Type.Integer(),
      window_s: Type.Integer(),
      remaining: Type.Integer(),
      reset_s: Type.Integer(),
    }),
  ),
  facts: Type.Unsafe<Static<typeof factsBody> | null>({ ...factsBody, type: ['object', 'null'] }),
  ended_by: Type.Unsafe<Static<typeof endedByBody> | null>({ ...endedByBody, type: ['object', 'null'] }),
  ...decisionFields,
});

function explainedCaller() {
  return closed({
    kind: Type.Enum(['parent', 'sub-account']),
    account_id: Type.String(),
    parent_id: nullableText(),
    key_id: Type.String(),
    scopes: Type.Array(Type.String()),
  });
}

/**
 * `POST /explain`: explains what the gateway would decide about a request, using the same functions as for real
 * requests.
 */
export function explainRoute(app: OperatorApp, deps: ExplainDeps): void {
  const schema = { querystring: noQuery, body: question, response: { 200: answer } };
  app.post('/explain', { schema, config: { role: 'viewer' } }, async ({ body }) => {
    const id = found(parseKeyId(body.key_id), 'API key');
    const digest = found(await deps.tenants.keyDigest(id), 'API key');
    const request: ProxiedRequest = {
      digest,
      acting: readActingHeader(body.acting_tenant === undefined ? [] : [body.acting_tenant]),
      method: methodKind(body.method) ?? 'write',
    };
    const destination = deps.destinationOf(body.method, body.path);
    // The decision uses facts that are as new as this or newer.
    const facts = usesFacts(destination) ? deps.factsAge() : null;
    const [explained, limits] = await lookAtLimits(await explain(destination, request, deps), deps);
    return {
      ...responseBody(destination, body, explained, request),
      ended_by:
        'problem' in explained ? await endedBy(explained.problem.code, id, request.acting, deps) : null,
      limits: limits.map(limitToBody),
      facts: facts && factsToBody(facts),
      ...decisionToBody(explained, deps.config.problems.typeBase),
    };
  });
}

/**
 * Reads the state of each limit that a request would count against, without counting the request. If a limit is used
 * up, the permit becomes a rejection.
 */
async function lookAtLimits(
  explained: Explained,
  { rateLimiter }: ExplainDeps,
): Promise<readonly [Explained, readonly LimitState[]]> {
  if (!('permit' in explained)) return [explained, []];
  const limits = await rateLimiter.look(explained.limitedBy ?? []);
  const full = limits.find(({ remaining }) => remaining === 0);
  if (full === undefined) return [explained, limits];
  const problem = limitFull(full.kind, full, full.resetS);
  return [{ caller: explained.caller, problem }, limits];
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
    allowed: problem === null,
    acts_as: permit?.resolvedTenant ?? null,
    because: reasonsOf[destination.kind] ?? problem?.detail ?? because(explained, request),
    status: problem === null ? null : catalogue[problem.code].status,
    request: {
      method,
      path,
      route: 'prefix' in destination ? destination.prefix : routeNames[destination.kind],
    },
    caller: caller && {
      kind: caller.kind,
      account_id: caller.accountId,
      parent_id: caller.kind === 'sub-account' ? caller.parentId : null,
      key_id: caller.keyId,
      scopes: [...caller.scopes],
    },
  };
}

function usesFacts(destination: Destination): boolean {
  return destination.kind === 'route' || (destination.kind === 'management' && !destination.open);
}

function factsToBody({ replica, applied, ageMs }: FactsAge): Static<typeof factsBody> {
  return { replica_id: replica, applied, age_ms: Math.round(ageMs) };
}

function limitToBody({ kind, period, unit, quota, windowS, remaining, resetS }: LimitState) {
  return { limited: kind, per: period, unit, quota, window_s: windowS, remaining, reset_s: resetS };
}

/** Names shown for destinations other than routes. */
const routeNames = { management: 'management', none: 'none', rejected: 'refused' } as const;

function because(explained: Explained, { method }: ProxiedRequest): string {
  if ('open' in explained) return 'The API reference is public: no key is checked.';
  const { caller } = explained;
  switch ('permit' in explained ? explained.permit.reason : undefined) {
    case 'sub-account':
      return 'The acting header names an active sub-account of the caller.';
    case 'self':
      return 'The acting header names the caller itself.';
    default:
      if (caller?.kind === 'sub-account')
        return 'There is no acting header, so a sub-account key acts as itself.';
      return method === 'read'
        ? 'There is no acting header, so a read acts as the caller.'
        : 'There is no acting header, and none is needed: the caller has no active sub-accounts, or this is a management call.';
  }
}

/**
 * Reasons that depend on the destination alone. Clients do not see the reason for a 404: they get the same one for
 * every unknown path.
 */
const reasonsOf: Partial<Readonly<Record<Destination['kind'], string>>> = {
  none: 'No route matches this path.',
  open: 'The route is open: no key is checked, and no identity is passed on.',
};
