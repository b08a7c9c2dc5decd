import { Type, type Static } from 'typebox';
import type { FastifyInstance } from 'fastify';
import type { PortalConfig } from '../../config.ts';
import { portalPermissions, type PortalSession } from '../../domain/portal.ts';
import { ProblemError } from '../../domain/problem.ts';
import type { ClientAddress } from '../../http/trusted-proxies.ts';
import { networkOf } from '../../http/trusted-proxies.ts';
import type { PortalSessionStore } from '../../ports/portal-sessions.ts';
import { closed, noQuery, nullableText, timestamp, type TypeBoxProvider } from '../rest/typebox.ts';
import { sessionOf, type PortalApp } from './portal-guard.ts';
import type { SessionSecrets } from '../session-secrets.ts';

const path = '/session';

const sessionBody = closed({
  id: Type.String(),
  account: closed({ id: Type.String(), name: Type.String() }),
  sub_account: Type.Unsafe<{ id: string; name: string; external_id: string | null } | null>({
    type: ['object', 'null'],
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      external_id: { type: ['string', 'null'] },
    },
  }),
  permissions: Type.Array(Type.Enum([...portalPermissions])),
  scopes: Type.Array(Type.String()),
  user: nullableText(),
  return_url: nullableText(),
  expires_at: timestamp,
});

export interface RedeemDeps {
  readonly portal: Pick<PortalConfig, 'sessionMs'>;
  readonly portalSessions: Pick<PortalSessionStore, 'redeem'>;
  readonly addressOf: ClientAddress;
  readonly sessionSecrets: SessionSecrets;
}

/** Adds `POST /redeem`, which exchanges a link for the token of its session, once. It needs no token. */
export function redeemRoute(app: FastifyInstance, deps: RedeemDeps): void {
  app.withTypeProvider<TypeBoxProvider>().post(
    '/redeem',
    {
      // The gateway does not know the sender yet, so it holds little for them.
      bodyLimit: 1_024,
      schema: {
        querystring: noQuery,
        body: closed({ link: Type.String({ maxLength: 100 }) }),
        response: { 201: closed({ token: Type.String(), session: sessionBody }) },
      },
    },
    async (request, reply) => {
      const { portal, portalSessions, sessionSecrets } = deps;
      const link = await sessionSecrets.digestOf(request.body.link);
      if (link === undefined) throw new ProblemError(linkSpent);
      const { secret: token, digest } = await sessionSecrets.make();
      const network = networkOf(deps.addressOf(request.raw));
      const session = await portalSessions.redeem(link, digest, portal.sessionMs, network);
      if (session === null) throw new ProblemError(linkSpent);
      reply.code(201);
      return { token, session: sessionToBody(session) };
    },
  );
}

/** Adds the routes that show the session and end it. */
export function ownSessionRoutes(app: PortalApp, portalSessions: Pick<PortalSessionStore, 'end'>): void {
  app.get(
    path,
    { schema: { querystring: noQuery, response: { 200: sessionBody } }, config: { permission: 'any' } },
    (request) => Promise.resolve(sessionToBody(sessionOf(request))),
  );
  app.delete(
    path,
    {
      schema: { querystring: noQuery, response: { 204: Type.Null() } },
      config: { permission: 'any', action: true },
    },
    async (request, reply) => {
      const { id, account } = sessionOf(request);
      await portalSessions.end(id, account.id);
      reply.code(204);
      return null;
    },
  );
}

function sessionToBody(session: PortalSession): Static<typeof sessionBody> {
  const { account, subAccount } = session;
  return {
    id: session.id,
    account: { id: account.id, name: account.name },
    sub_account: subAccount && {
      id: subAccount.id,
      name: subAccount.name,
      external_id: subAccount.externalId,
    },
    permissions: [...session.permissions],
    scopes: [...session.scopes],
    user: session.user,
    return_url: session.returnUrl,
    expires_at: session.expiresAt.toISOString(),
  };
}

const linkSpent = {
  code: 'unauthenticated',
  detail: 'This link was used, has expired or was ended. Open the portal anew from where you came.',
} as const;
