import type { FastifyInstance } from 'fastify';
import { notFound } from '../http/not-found.ts';
import { managementScopes, subAccountScopeFault } from '../domain/scope.ts';
import { keyEndRoutes, keyUpdateRoute, ownedKey } from './api-keys/key-life.ts';
import { revokeAllRoute } from './api-keys/revoke-all.ts';
import { apiKeyRoutes, type ApiKeyRoutesRules } from './api-keys/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { portalSessionRoutes } from './portal/portal-sessions.ts';
import { referencePaths } from './reference/reference.ts';
import { claimPrefix } from './rest/claim-prefix.ts';
import { actingRoute } from './explain/acting.ts';
import { callerRoute } from './caller.ts';
import { onboardingRoute } from './onboarding.ts';
import { installJsonBodies } from './rest/json-body.ts';
import type { TypeBoxProvider } from './rest/typebox.ts';
import type { ManagementApp, ScopedAccess } from './operations.ts';
import { callerOf, installGuard } from './guard.ts';
import { byExternalIdRoute } from './sub-accounts/by-external-id.ts';
import { createBody } from './sub-accounts/resource.ts';
import { limitsRoute } from './sub-accounts/limits.ts';
import { subAccountRoutes } from './sub-accounts/routes.ts';
import { usageReportRoute } from './usage/report.ts';
import type { ManagementDeps } from './deps.ts';

/**
 * Plugin for the management endpoints (spec section 4). Register it under the prefix `/v1/sub-accounts`, after
 * `installErrorReplies`. The plugin handles every path and method under the prefix, with one exception:
 * `parentReference` handles GET and HEAD of the API reference.
 */
export function management(app: FastifyInstance, deps: ManagementDeps, done: () => void): void {
  const { config } = deps;
  const elsewhere = config.reference.enabled ? referencePaths : [];
  const countChange = installGuard(app, deps);
  installJsonBodies(app, config.limits, deps.timers);

  const register = (): void => {
    const typed: ManagementApp = app.withTypeProvider<TypeBoxProvider>();
    const access = {
      caller: callerOf,
      read: { scope: managementScopes.read },
      write: { scope: managementScopes.write },
      countChange,
    };
    subAccountRoutes<ScopedAccess>({
      app: typed,
      deps,
      rules: {
        ...access,
        ...{ path: '', params: {}, createBody, setStatus: access.write },
        parent: (request) => callerOf(request).accountId,
      },
    });
    byExternalIdRoute(typed, deps, countChange);
    limitsRoute(typed, deps);
    usageReportRoute(typed, deps);
    callerRoute(typed, deps);
    actingRoute(typed, deps);
    onboardingRoute(typed, deps);
    eventRoutes(typed, deps);
    portalSessionRoutes(typed, deps);
    const keyDeps = {
      ...deps,
      enforcedHeader: config.headers.enforced,
      keysPerAccount: config.limits.keysPerAccount,
      keyPrefix: config.keys.prefix,
    };
    const keyRules: ApiKeyRoutesRules<ScopedAccess> = {
      path: '/:owner_id/api-keys',
      ownerField: 'sub_account_id',
      parent: (request) => callerOf(request).accountId,
      scopeFault: subAccountScopeFault,
      ...access,
      revoke: access.write,
    };
    apiKeyRoutes(typed, keyDeps, keyRules);
    keyUpdateRoute(typed, keyDeps, ownedKey(keyRules));
    keyEndRoutes(typed, keyDeps, ownedKey(keyRules));
    revokeAllRoute(typed, keyDeps, keyRules);
  };
  const find = claimPrefix(app, register, notFound, elsewhere);
  deps.onOperations?.(find);
  done();
}
