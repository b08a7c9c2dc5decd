import { parseAccountId, parseKeyId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { subAccountScopeFault } from '../../domain/scope.ts';
import { found } from '../../http/not-found.ts';
import { isAtOnce, revokeKey, rotateKey, type KeyLifeDeps, type KeyToChange } from '../api-keys/key-life.ts';
import { apiKeyBody, apiKeyToBody, mintedKeyBody, rotateBody } from '../api-keys/resource.ts';
import { apiKeyRoutes, keyPath, type ApiKeyRoutesDeps, type ApiKeyRoutesRules } from '../api-keys/routes.ts';
import { takesAway } from '../call-rates.ts';
import type { CountChange } from '../guard.ts';
import type { FastifyRequest } from 'fastify';
import type { PortalSession } from '../../domain/portal.ts';
import { noQuery } from '../rest/typebox.ts';
import { changeCallerOf, sessionOf, type PortalAccess, type PortalApp } from './portal-guard.ts';

const path = '/sub-accounts/:owner_id/api-keys';
const ownerField = 'sub_account_id';
const read = { permission: 'keys:read' } as const;
const write = { permission: 'keys:write' } as const;

/**
 * Adds the routes that list, mint, rotate and revoke keys of sub-accounts. The portal changes no keys of the parent,
 * because a holder of one may do everything.
 */
export function portalKeyRoutes(
  app: PortalApp,
  deps: ApiKeyRoutesDeps & KeyLifeDeps,
  countChange: CountChange,
): void {
  const rules: ApiKeyRoutesRules<PortalAccess> = {
    path,
    ownerField,
    parent: (request) => sessionOf(request).account.id,
    caller: changeCallerOf,
    scopeFault: (scope, request) => scopeFault(scope, sessionOf(request)),
    read,
    write,
    revoke: write,
  };
  apiKeyRoutes(app, deps, rules);
  rotateRoute(app, deps, countChange);
  revokeRoute(app, deps, countChange);
}

function rotateRoute(app: PortalApp, deps: ApiKeyRoutesDeps & KeyLifeDeps, countChange: CountChange): void {
  app.post(
    `${path}/:key_id/rotate`,
    {
      schema: { params: keyPath, querystring: noQuery, body: rotateBody, response: { 201: mintedKeyBody } },
      config: { ...write, takesAway: isAtOnce },
    },
    async (request, reply) => {
      await mayHold(request, request.params, deps);
      const rotated = await rotateKey(deps, keyOf(request, request.params, countChange), request, reply);
      return { ...apiKeyToBody(rotated.key, ownerField, rotated.asOfMs), ...rotated.secrets };
    },
  );
}

function revokeRoute(app: PortalApp, deps: KeyLifeDeps, countChange: CountChange): void {
  app.post(
    `${path}/:key_id/revoke`,
    {
      schema: { params: keyPath, querystring: noQuery, response: { 200: apiKeyBody } },
      config: { ...write, action: true, takesAway },
    },
    async (request, reply) => {
      const key = await revokeKey(deps, keyOf(request, request.params, countChange), reply);
      return apiKeyToBody(key, ownerField, deps.clock.wallMs());
    },
  );
}

interface KeyParams {
  readonly owner_id: string;
  readonly key_id: string;
}

function keyOf(request: FastifyRequest, params: KeyParams, countChange: CountChange): KeyToChange {
  return {
    find: () => ({
      account: found(parseAccountId(params.owner_id), 'sub-account'),
      parent: sessionOf(request).account.id,
      id: found(parseKeyId(params.key_id), 'API key'),
    }),
    caller: changeCallerOf(request),
    countChange,
  };
}

/**
 * A rotation shows the secret of a key with the scopes of the old one. Scopes of a key never change, so they are not
 * checked again in the change itself.
 */
async function mayHold(
  request: FastifyRequest,
  params: KeyParams,
  { tenants }: Pick<ApiKeyRoutesDeps, 'tenants'>,
): Promise<void> {
  const session = sessionOf(request);
  const { id: parent } = session.account;
  const owner = found(parseAccountId(params.owner_id), 'sub-account');
  found(await tenants.getSubAccount(parent, owner), 'sub-account');
  const key = await tenants.getKey(owner, found(parseKeyId(params.key_id), 'API key'), parent);
  const fault = found(key, 'API key')
    .scopes.map((scope) => scopeFault(scope, session))
    .find(Boolean);
  if (fault !== undefined) throw new ProblemError({ code: 'scope_not_grantable', detail: fault });
}

function scopeFault(scope: string, { scopes }: PortalSession): string | undefined {
  if (!scopes.includes(scope))
    return `\`${scope}\` is not one of the scopes that keys of this session may have.`;
  return subAccountScopeFault(scope);
}
