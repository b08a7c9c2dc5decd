import type { FastifyInstance } from 'fastify';
import { parseAccountId } from '../../domain/ids.ts';
import { apiKeyRoutes } from '../api-keys/routes.ts';
import { claimPrefix } from '../rest/claim-prefix.ts';
import { installJsonBodies } from '../rest/json-body.ts';
import type { TypeBoxProvider, TypedApp } from '../rest/typebox.ts';
import { installValidation } from '../rest/validation.ts';
import { operatorCaller } from '../../ports/tenant-store.ts';
import { accountRoutes } from './accounts.ts';
import { requireOperator } from './operator-token.ts';
import type { AdminDeps } from './deps.ts';

/**
 * The operator API, to be registered at the prefix `/admin/v1` of the internal listener, on an app that has
 * `installErrorReplies`. Without a token it is off: everything under the prefix is 404, and the log says so once.
 */
export function admin(app: FastifyInstance, deps: AdminDeps, done: () => void): void {
  const { config } = deps;
  const token = config.internal.adminToken;
  if (token === null) {
    app.log.warn('the operator API is off: ADMIN_TOKEN is not set');
    claimPrefix(app, () => undefined, {
      code: 'not_found',
      detail: 'The operator API is off: no ADMIN_TOKEN is set.',
    });
  } else {
    app.addHook('onRequest', requireOperator(token));
    installJsonBodies(app, config.limits.managementBodyBytes);
    installValidation(app);
    claimPrefix(app, () => operatorRoutes(app.withTypeProvider<TypeBoxProvider>(), deps));
  }
  done();
}

function operatorRoutes(app: TypedApp, deps: AdminDeps): void {
  const { config, tenants } = deps;
  accountRoutes(app, deps);
  apiKeyRoutes(
    app,
    { ...deps, enforcedHeader: config.headers.enforced, keysPerAccount: config.limits.keysPerAccount },
    {
      path: '/accounts/:owner_id/api-keys',
      ownerField: 'account_id',
      owner: async (_request, text) => {
        const id = parseAccountId(text);
        return (id && (await tenants.getParent(id))?.id) ?? null;
      },
      tenant: () => undefined,
      caller: () => operatorCaller,
      // The operator makes the keys that manage sub-accounts.
      grantable: () => true,
      read: {},
      write: {},
    },
  );
  deps.more?.(app);
}
