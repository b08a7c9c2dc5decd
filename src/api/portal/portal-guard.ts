import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerProblems, type ParentCaller } from '../../domain/caller.ts';
import { headerValues } from '../../domain/header-names.ts';
import { parseAccountId } from '../../domain/ids.ts';
import { noSuch } from '../../domain/no-such.ts';
import type { PortalPermission, PortalSession } from '../../domain/portal.ts';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import { noteOutcome } from '../../http/outcome.ts';
import { networkOf, type ClientAddress } from '../../http/trusted-proxies.ts';
import type { ChangeCaller, RequestOrigin } from '../../ports/changes.ts';
import type { PortalSessionStore } from '../../ports/portal-sessions.ts';
import { budgetOf } from '../call-rates.ts';
import { operationOf } from '../rest/claim-prefix.ts';
import type { RoutesWith } from '../rest/typebox.ts';
import type { SessionSecrets } from '../session-secrets.ts';

declare module 'fastify' {
  /** Members of a route's `config` that {@link requireSession} reads. */
  interface FastifyContextConfig {
    /** Permission that the session must have; `any` if every session may call the route. */
    readonly permission?: PortalPermission | 'any';
  }
}

/** Permission that a route of the portal requires. `action` marks a route that takes no body. */
export interface PortalAccess {
  readonly permission: PortalPermission | 'any';
  readonly action?: true;
  readonly takesAway?: (body: unknown) => boolean;
}

/** App for the portal's API. Every route must declare its permission, otherwise the route does not compile. */
export type PortalApp = RoutesWith<PortalAccess>;

/** Dependencies of {@link requireSession}. */
export interface PortalGuardDeps {
  readonly config: Parameters<typeof budgetOf>[0];
  readonly portalSessions: Pick<PortalSessionStore, 'find'>;
  readonly sessionSecrets: Pick<SessionSecrets, 'digestOf'>;
  readonly addressOf: ClientAddress;
}

const decorator = 'portalSession';
const originDecorator = 'portalOrigin';
const bearer = /^bearer +(\S+)$/i;

/**
 * Rejects requests to `app` without the token of a session in force, requests for which the session lacks the permission
 * of the route, and requests for accounts that the session may not see. For writes it looks again once the body has
 * arrived, which may take long. The store looks once more in the transaction of a change.
 */
export function requireSession(app: FastifyInstance, deps: PortalGuardDeps): void {
  const budget = budgetOf(deps.config);
  app.decorateRequest(decorator, null);
  app.decorateRequest(originDecorator, null);
  app.addHook('onRequest', async (request) => {
    const address = deps.addressOf(request.raw);
    const token = tokenOf(request);
    if (token === undefined) throw new ProblemError(noSession);
    const session = await sessionInForce(token, address, deps);
    noteOutcome(request, { caller: callerOfSession(session) });
    request.setDecorator<PortalSession | null>(decorator, session);
    request.setDecorator<RequestOrigin | null>(originDecorator, { requestId: request.id, address, budget });
    const problem = problemOf(request, session);
    if (problem !== undefined) throw problem;
  });
  app.addHook('preHandler', async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    await sessionInForce(tokenOf(request) ?? '', deps.addressOf(request.raw), deps);
  });
}

/** @throws ProblemError `invalid_api_key` unless the token is that of a session in force */
async function sessionInForce(
  token: string,
  address: string | undefined,
  { sessionSecrets, portalSessions }: PortalGuardDeps,
): Promise<PortalSession> {
  const digest = await sessionSecrets.digestOf(token);
  const session = digest && (await portalSessions.find(digest, networkOf(address)));
  if (!session) throw new ProblemError(callerProblems.sessionEnded);
  return session;
}

/**
 * Returns the session of a request.
 *
 * @throws Error if the guard has not run, so that an unguarded route fails instead of being open
 */
export function sessionOf(request: FastifyRequest): PortalSession {
  const session = request.getDecorator<PortalSession | null>(decorator);
  if (session === null) throw new Error('a call of the portal was handled before its session was looked at');
  return session;
}

/** Returns the author of a change in the portal: the session, for the key that made it. */
export function changeCallerOf(request: FastifyRequest): ChangeCaller {
  const { id, account, keyId } = sessionOf(request);
  const origin = request.getDecorator<RequestOrigin | null>(originDecorator);
  return { accountId: account.id, keyId, portalSession: id, ...origin };
}

/** Returns the token that a request carries; `undefined` if there is none. */
function tokenOf({ raw: { rawHeaders } }: FastifyRequest): string | undefined {
  const values = headerValues(rawHeaders, 'authorization');
  return values.length === 1 ? bearer.exec(values[0] ?? '')?.[1] : undefined;
}

/** Returns the problem if a session may not call the route of `request`. A rejected path has none. */
function problemOf(request: FastifyRequest, session: PortalSession): Error | undefined {
  const { permission } = request.routeOptions.config;
  if (operationOf(request).rejection !== undefined) return undefined;
  if (permission === undefined) return new Error('an operation of the portal has no permission');
  if (permission !== 'any' && !session.permissions.includes(permission))
    return new ProblemError(lacks(permission));
  const { subAccount } = session;
  const { owner_id: owner, sub_id: sub = owner } = request.params as Readonly<Record<string, string>>;
  // A session of one sub-account learns nothing about the others, not even that they exist.
  if (subAccount !== null && sub !== undefined && parseAccountId(sub) !== subAccount.id)
    return new ProblemError(noSuch('sub-account'));
  return undefined;
}

/** The caller that logs and metrics name: the parent's key that made the session. */
function callerOfSession({ account, keyId, scopes }: PortalSession): ParentCaller {
  return { kind: 'parent', accountId: account.id, keyId, scopes, externalId: null };
}

function lacks(permission: PortalPermission): Problem {
  return {
    code: 'insufficient_scope',
    detail: `This session of the portal lacks the permission \`${permission}\`.`,
    extra: { scope: permission },
  };
}

const noSession: Problem = {
  code: 'unauthenticated',
  detail:
    'The portal needs `Authorization: Bearer <token of a session>`, once. `POST redeem` exchanges a link for one.',
};
