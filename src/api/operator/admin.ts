import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { importRoute } from '../api-keys/import.ts';
import { keyEndRoutes, keyUpdateRoute, ownedKey } from '../api-keys/key-life.ts';
import { revokeAllRoute } from '../api-keys/revoke-all.ts';
import { apiKeyRoutes, type ApiKeyRoutesRules } from '../api-keys/routes.ts';
import { parseAccountId } from '../../domain/ids.ts';
import { found, notFound } from '../../http/not-found.ts';
import { clientAddresses } from '../../http/trusted-proxies.ts';
import { referencePaths } from '../reference/reference.ts';
import { claimPrefix } from '../rest/claim-prefix.ts';
import { installJsonBodies } from '../rest/json-body.ts';
import type { TypeBoxProvider } from '../rest/typebox.ts';
import { givenIdBody } from '../sub-accounts/resource.ts';
import { subAccountRoutes } from '../sub-accounts/routes.ts';
import { accountRoutes } from './accounts.ts';
import { deletionRoutes } from './deletions.ts';
import { anyKeyRoutes } from './keys.ts';
import { operatorEventRoutes } from './events.ts';
import { planRoutes } from './plans.ts';
import { operatorUsageRoute } from './usage.ts';
import { usageExportRoute } from './usage-export.ts';
import { usageForgetRoute } from './usage-forget.ts';
import type { AdminDeps } from './deps.ts';
import { importRoutes } from './import/routes.ts';
import { operatorOf, requireOperator, type OperatorApp, type RoleAccess } from './operator-token.ts';
import { sessionRoutes } from './session.ts';

/**
 * Plugin for the operator API. Register it under the prefix `/admin/v1` of the internal listener, after
 * `installErrorReplies`. If no token is set, the API is off: every path under the prefix returns a 404, and a warning
 * is logged once.
 */
export function admin(app: FastifyInstance, deps: AdminDeps, done: () => void): void {
  const { config } = deps;
  if (config.operators.length === 0) {
    app.log.warn('the operator API is off: ADMIN_TOKEN is not set');
    claimPrefix(app, () => undefined, {
      code: 'not_found',
      detail: 'The operator API is off: no ADMIN_TOKEN is set.',
    });
  } else {
    requireOperator(app, {
      tokens: deps.operatorTokens,
      sessions: deps.operatorSessions,
      guesses: deps.tokenGuesses,
      addressOf: clientAddresses(config.trustedProxies),
    });
    installJsonBodies(app, config.limits, deps.timers);
    const register = (): void => operatorRoutes(app.withTypeProvider<TypeBoxProvider>(), deps);
    claimPrefix(app, register, notFound, referencePaths);
  }
  done();
}

function operatorRoutes(app: OperatorApp, deps: AdminDeps): void {
  const { config } = deps;
  const keyDeps = {
    ...deps,
    enforcedHeader: config.headers.enforced,
    keysPerAccount: config.limits.keysPerAccount,
    keyPrefix: config.keys.prefix,
  };
  accountRoutes(app, deps);
  deletionRoutes(app, deps);
  subAccountRoutes<RoleAccess>({
    app,
    deps,
    rules: {
      path: '/accounts/:account_id/sub-accounts',
      params: { account_id: Type.String() },
      createBody: givenIdBody,
      parent: ({ params }) =>
        found(parseAccountId((params as { readonly account_id: string }).account_id), 'account'),
      caller: operatorOf,
      read: { role: 'viewer' },
      write: { role: 'admin' },
      setStatus: { role: 'support' },
    },
  });
  planRoutes(app, deps);
  importRoutes(app, deps);
  importRoute(app, keyDeps);
  const anyAccount: Omit<ApiKeyRoutesRules<RoleAccess>, 'parent'> = {
    path: '/accounts/:owner_id/api-keys',
    ownerField: 'account_id',
    caller: operatorOf,
    // Operators may grant any scope, because they mint the keys that are used to manage sub-accounts.
    scopeFault: () => undefined,
    read: { role: 'viewer' },
    write: { role: 'admin' },
    revoke: { role: 'support' },
  };
  const keyRules = { ...anyAccount, parent: () => null };
  apiKeyRoutes(app, keyDeps, keyRules);
  keyUpdateRoute(app, keyDeps, ownedKey(keyRules));
  keyEndRoutes(app, keyDeps, ownedKey(keyRules));
  // Without `parent`, the account may also be a sub-account.
  revokeAllRoute(app, keyDeps, anyAccount);
  anyKeyRoutes(app, keyDeps);
  operatorUsageRoute(app, deps);
  usageExportRoute(app, deps);
  usageForgetRoute(app, deps);
  operatorEventRoutes(app, deps);
  sessionRoutes(app, deps);
  deps.more?.(app);
}
