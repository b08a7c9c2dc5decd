import { parseAccountId, parseKeyId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { subAccountScopeFault } from '../../domain/scope.ts';
import { found } from '../../http/not-found.ts';
import { keyEndRoutes, ownedKey, type KeyLifeDeps } from '../api-keys/key-life.ts';
import {
  apiKeyRoutes,
  type ApiKeyRoutesDeps,
  type ApiKeyRoutesRules,
  type keyPath,
} from '../api-keys/routes.ts';
import type { CountChange } from '../guard.ts';
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { PortalSession } from '../../domain/portal.ts';
import { changeCallerOf, sessionOf, type PortalAccess, type PortalApp } from './portal-guard.ts';

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
    path: '/sub-accounts/:owner_id/api-keys',
    ownerField: 'sub_account_id',
    parent: (request) => sessionOf(request).account.id,
    caller: changeCallerOf,
    scopeFault: (scope, request) => scopeFault(scope, sessionOf(request)),
    read: { permission: 'keys:read' },
    write,
    revoke: write,
    countChange,
  };
  apiKeyRoutes(app, deps, rules);
  keyEndRoutes(app, deps, {
    ...ownedKey(rules),
    mayRotate: (request) => mayHold(request, deps),
  });
}

/**
 * A rotation shows the secret of a key with the scopes of the old one. Scopes of a key never change, so they are not
 * checked again in the change itself.
 */
async function mayHold(
  request: FastifyRequest,
  { tenants }: Pick<ApiKeyRoutesDeps, 'tenants'>,
): Promise<void> {
  const params = request.params as Static<typeof keyPath>;
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
