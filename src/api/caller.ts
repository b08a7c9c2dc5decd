import { Type } from 'typebox';
import { managementScopes } from '../domain/scope.ts';
import { found } from '../http/not-found.ts';
import { apiKeyFields, apiKeyToBody } from './api-keys/resource.ts';
import type { ManagementDeps } from './deps.ts';
import { callerOf } from './guard.ts';
import { limitsToMembers } from '../domain/limits/limits.ts';
import { limitsBody } from './rest/limits.ts';
import { limitInForce, limitsInForce } from './rest/limits-in-force.ts';
import { limitedBy } from './sub-accounts/limits.ts';
import { closed, noQuery, nullableText, timestamp } from './rest/typebox.ts';
import type { ManagementApp } from './operations.ts';

/** The caller in the response. A parent's metadata is left out, because only operators may see it. */
const callerBody = closed({
  account: closed({
    id: Type.String(),
    name: Type.String(),
    external_id: nullableText(),
    limits: limitsBody,
    created_at: timestamp,
    updated_at: timestamp,
  }),
  api_key: closed(apiKeyFields),
  active_sub_accounts: Type.Integer(),
  limits_in_force: Type.Array(limitInForce),
});

/**
 * `GET /v1/sub-accounts/caller`: shows the caller's account, its API key, the limits of both with what is left, and the
 * account's number of active sub-accounts. An account with active sub-accounts needs the acting header for writes.
 */
export function callerRoute(app: ManagementApp, deps: ManagementDeps): void {
  const { tenants, clock } = deps;
  app.get(
    '/caller',
    {
      schema: { querystring: noQuery, response: { 200: callerBody } },
      config: { scope: managementScopes.read },
    },
    async (request) => {
      const { accountId, keyId } = callerOf(request);
      // The guard has found the account and the key. The database lacks them only if an older backup was restored.
      const account = found(await tenants.getParent(accountId, accountId), 'account');
      const key = found(await tenants.getKey(accountId, keyId, accountId), 'API key');
      return {
        account: {
          id: account.id,
          name: account.name,
          external_id: account.externalId,
          limits: limitsToMembers(account.effectiveLimits),
          created_at: account.createdAt.toISOString(),
          updated_at: account.updatedAt.toISOString(),
        },
        api_key: apiKeyToBody(key, 'account_id', clock.wallMs()),
        active_sub_accounts: account.activeSubAccounts,
        limits_in_force: await limitsInForce(await limitedBy(account, null, keyId, deps), deps),
      };
    },
  );
}
