import { Type, type Static } from 'typebox';
import type { ParentAccount, SubAccount } from '../../domain/account.ts';
import { parseAccountId, parseKeyId, type AccountId, type KeyId } from '../../domain/ids.ts';
import { managementScopes } from '../../domain/scope.ts';
import { found } from '../../http/not-found.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { LimitedBy } from '../../ports/limits/rate-limiter.ts';
import type { ManagementDeps } from '../deps.ts';
import { callerOf } from '../guard.ts';
import type { ManagementApp } from '../operations.ts';
import { limitInForce, limitsInForce, limitsOfKey, type LimitsInForceDeps } from '../rest/limits-in-force.ts';
import { closed } from '../rest/typebox.ts';

const path = closed({ sub_id: Type.String() });

/** Query of the operations that show limits in force. With a key, the key's limits are shown, too. */
export const limitsQuery = closed({ key_id: Type.Optional(Type.String()) });
export const limitsInForceBody = closed({ data: Type.Array(limitInForce) });

/**
 * `GET /v1/sub-accounts/{sub_id}/limits`: shows the limits that a request as the sub-account counts against: its own and
 * the parent's, and those of one of its keys if the query names the key.
 */
export function limitsRoute(app: ManagementApp, deps: ManagementDeps): void {
  app.get(
    '/:sub_id/limits',
    {
      schema: { params: path, querystring: limitsQuery, response: { 200: limitsInForceBody } },
      config: { scope: managementScopes.read },
    },
    async (request) => ({
      data: await limitsOfSubAccount(callerOf(request).accountId, request.params, request.query, deps),
    }),
  );
}

/**
 * Reads the limits in force for a sub-account of `parentId`.
 *
 * @throws ProblemError `not_found` if the parent has no such sub-account, or the sub-account no such key
 */
export async function limitsOfSubAccount(
  parentId: AccountId,
  { sub_id: subId }: Static<typeof path>,
  { key_id: keyId }: Static<typeof limitsQuery>,
  deps: LimitsInForceDeps & { readonly tenants: Pick<TenantStore, 'getSubAccount' | 'getParent' | 'getKey'> },
): ReturnType<typeof limitsInForce> {
  const { tenants } = deps;
  const id = found(parseAccountId(subId), 'sub-account');
  const account = found(await tenants.getSubAccount(parentId, id), 'sub-account');
  const parent = found(await tenants.getParent(parentId, parentId), 'account');
  const key = keyId === undefined ? null : found(parseKeyId(keyId), 'API key');
  if (key !== null) found(await tenants.getKey(id, key, parentId), 'API key');
  return limitsInForce(await limitedBy(parent, account, key, deps), deps);
}

/** Returns the owners of the limits that a request counts against. `account` and `key` are `null` if there are none. */
export async function limitedBy(
  parent: Pick<ParentAccount, 'id' | 'effectiveLimits'>,
  account: Pick<SubAccount, 'id' | 'limits'> | null,
  key: KeyId | null,
  deps: LimitsInForceDeps,
): Promise<readonly LimitedBy[]> {
  return [
    ...(key === null ? [] : await limitsOfKey(key, deps)),
    ...(account === null
      ? []
      : [{ kind: 'sub_account' as const, id: account.id, limits: account.limits, shown: true }]),
    { kind: 'parent', id: parent.id, limits: parent.effectiveLimits, shown: true },
  ];
}
