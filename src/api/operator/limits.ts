import { Type } from 'typebox';
import { parseAccountId, parseKeyId } from '../../domain/ids.ts';
import { found } from '../../http/not-found.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { UsageStore } from '../../ports/usage.ts';
import { limitsInForce, type LimitsInForceDeps } from '../rest/limits-in-force.ts';
import { closed } from '../rest/typebox.ts';
import { limitedBy, limitsInForceBody, limitsQuery } from '../sub-accounts/limits.ts';
import type { OperatorApp } from './operator-token.ts';

export interface LimitsDeps extends LimitsInForceDeps {
  readonly tenants: TenantStore;
  readonly usage: Pick<UsageStore, 'parentOf'>;
}

const path = closed({ account_id: Type.String() });

/**
 * `GET /accounts/{account_id}/limits`: shows the limits that a request as the account counts against. The account may be
 * a parent or a sub-account. The limits of one of its keys are shown, too, if the query names the key.
 */
export function limitsRoute(app: OperatorApp, deps: LimitsDeps): void {
  const { tenants, usage } = deps;
  app.get(
    '/accounts/:account_id/limits',
    {
      schema: { params: path, querystring: limitsQuery, response: { 200: limitsInForceBody } },
      config: { role: 'viewer' },
    },
    async ({ params, query }) => {
      const id = found(parseAccountId(params.account_id), 'account');
      const parentId = found(await usage.parentOf(id), 'account');
      const parent = found(await tenants.getParent(parentId), 'account');
      const account = id === parentId ? null : found(await tenants.getSubAccount(parentId, id), 'account');
      const key = query.key_id === undefined ? null : found(parseKeyId(query.key_id), 'API key');
      if (key !== null) found(await tenants.getKey(id, key), 'API key');
      return { data: await limitsInForce(await limitedBy(parent, account, key, deps), deps) };
    },
  );
}
