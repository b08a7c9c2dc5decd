import { Type } from 'typebox';
import { isExternalId } from '../../domain/external-id.ts';
import { uuidV7, type AccountId } from '../../domain/ids.ts';
import { managementScopes } from '../../domain/scope.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { found } from '../../http/not-found.ts';
import type { ManagementDeps } from '../deps.ts';
import { callerOf, type CountChange } from '../guard.ts';
import { enforced, withinLimit, withinPairs } from '../rest/changes.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import { limitsMember, putBody, subAccountBody, subAccountToBody } from './resource.ts';
import { warningsOf } from './warnings.ts';
import type { ManagementApp } from '../operations.ts';

const path = closed({ external_id: Type.String() });

/**
 * `PUT …/by-external-id/{external_id}`: creates the sub-account with this `external_id`, or updates it if it exists.
 * The call is idempotent in itself, so it ignores `Idempotency-Key`.
 */
export function byExternalIdRoute(app: ManagementApp, deps: ManagementDeps, countChange: CountChange): void {
  const { tenants, barrier, clock, randomBytes, config } = deps;

  app.put(
    '/by-external-id/:external_id',
    {
      schema: {
        params: path,
        querystring: noQuery,
        body: putBody,
        response: { 200: subAccountBody, 201: subAccountBody },
      },
      config: { scope: managementScopes.write },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { external_id: externalId } = request.params;
      if (!isExternalId(externalId))
        throw invalidField(
          'external_id',
          'in the path must be 1 to 255 visible ASCII characters without comma.',
        );
      const { name, metadata = {}, limits } = request.body;
      const id = uuidV7(clock.wallMs(), randomBytes(10)) as AccountId;
      const put = found(
        await tenants.putSubAccount(
          caller.accountId,
          externalId,
          { id, name, metadata, ...limitsMember(limits) },
          config.limits.subAccountsPerParent,
          caller,
        ),
        'sub-account',
      );
      const committed = withinLimit(withinPairs(put), 'sub-accounts');
      const account = await enforced(committed, barrier, reply, config.headers.enforced, countChange);
      reply.code(committed.created ? 201 : 200);
      const warnings = committed.created ? await warningsOf(deps, caller.accountId, committed) : {};
      return { ...subAccountToBody(account), ...warnings };
    },
  );
}
