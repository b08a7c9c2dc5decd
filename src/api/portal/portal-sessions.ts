import { Type } from 'typebox';
import { nameMaxLength } from '../../domain/account.ts';
import { parseAccountId, uuidV7 } from '../../domain/ids.ts';
import { portalPermissions } from '../../domain/portal.ts';
import { ProblemError } from '../../domain/problem.ts';
import { managementScopes, subAccountScopeFault } from '../../domain/scope.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { found } from '../../http/not-found.ts';
import type { PortalConfig } from '../../config.ts';
import { scopesField } from '../api-keys/resource.ts';
import type { ManagementDeps } from '../deps.ts';
import { takesAway } from '../call-rates.ts';
import { callerOf } from '../guard.ts';
import type { ManagementApp } from '../operations.ts';
import { withinLimit } from '../rest/changes.ts';
import { displayName } from '../rest/display-name.ts';
import { closed, noQuery, timestamp } from '../rest/typebox.ts';

/** Milliseconds in which a link has to be redeemed. */
const linkMs = 5 * 60_000;
const returnUrlMaxLength = 2_000;

const createBody = closed({
  sub_account_id: Type.Optional(Type.String()),
  permissions: Type.Array(Type.Enum([...portalPermissions]), { minItems: 1, uniqueItems: true }),
  scopes: scopesField,
  user: Type.Optional(displayName('user', nameMaxLength)),
  return_url: Type.Optional(Type.String({ maxLength: returnUrlMaxLength })),
});

const createdBody = closed({ id: Type.String(), url: Type.String(), expires_at: timestamp });

const write = { scope: managementScopes.write };

/**
 * Adds the routes with which a parent's program lets people into the portal: `POST /portal-sessions` makes a session
 * with a link, `DELETE /portal-sessions/{session_id}` ends one.
 */
export function portalSessionRoutes(app: ManagementApp, deps: ManagementDeps): void {
  createRoute(app, deps);
  endRoute(app, deps);
}

function createRoute(app: ManagementApp, deps: ManagementDeps): void {
  const { config, portalSessions, sessionSecrets, clock, randomBytes } = deps;
  app.post(
    '/portal-sessions',
    {
      schema: { querystring: noQuery, body: createBody, response: { 201: createdBody } },
      config: write,
    },
    async (request, reply) => {
      const { portal } = config;
      if (portal === null) throw new ProblemError(noPortal);
      const { sub_account_id: subId, permissions, scopes = [], user = null } = request.body;
      scopes.forEach((scope, index) => {
        const detail = subAccountScopeFault(scope);
        if (detail === undefined) return;
        const errors = [{ pointer: `/scopes/${index}`, detail }];
        throw new ProblemError({ code: 'scope_not_grantable', detail, errors });
      });
      const returnUrl = readReturnUrl(request.body.return_url, portal);
      const subAccountId = subId === undefined ? null : found(parseAccountId(subId), 'sub-account');
      const id = uuidV7(clock.wallMs(), randomBytes(10));
      const { secret, digest } = await sessionSecrets.make();
      // A parent has at most as many open sessions as sub-accounts.
      const most = config.limits.subAccountsPerParent;
      const session = { id, subAccountId, permissions, scopes, user, returnUrl, digest };
      const made = await portalSessions.create(session, linkMs, most, callerOf(request));
      const expiresAt = withinLimit(found(made, 'sub-account'), 'sessions of the portal');
      reply.code(201);
      // Browsers send no fragment, so the secret is in no log of a server.
      return { id, url: `${portal.url}#${secret}`, expires_at: expiresAt.toISOString() };
    },
  );
}

function endRoute(app: ManagementApp, { portalSessions }: ManagementDeps): void {
  app.delete(
    '/portal-sessions/:session_id',
    {
      schema: {
        params: closed({ session_id: Type.String() }),
        querystring: noQuery,
        response: { 204: Type.Null() },
      },
      config: { ...write, action: true, takesAway },
    },
    async (request, reply) => {
      const id = found(parseAccountId(request.params.session_id), 'session');
      const ended = await portalSessions.end(id, callerOf(request).accountId);
      found(ended || null, 'session');
      reply.code(204);
      return null;
    },
  );
}

/** @throws ProblemError `invalid_request` unless the address begins with one of `portal.return_urls` */
function readReturnUrl(text: string | undefined, { returnUrls }: PortalConfig): string | null {
  if (text === undefined) return null;
  // Normalised first, so that `..` does not lead elsewhere.
  const url = URL.canParse(text) ? new URL(text).href : '';
  if (!returnUrls.some((start) => url.startsWith(start)))
    throw invalidField('/return_url', 'must begin with one of the `portal.return_urls` of the gateway.');
  return url;
}

const noPortal = {
  code: 'not_found',
  detail: 'The portal is off: the gateway has no `portal.port`.',
} as const;
