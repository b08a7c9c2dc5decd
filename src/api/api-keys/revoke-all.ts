import { Type } from 'typebox';
import { parseAccountId } from '../../domain/ids.ts';
import { found } from '../../http/not-found.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import { claimantOf } from '../claimant.ts';
import { takesAway } from '../call-rates.ts';
import { enforced, idempotencyClaim, noteReplay } from '../rest/changes.ts';
import { closed, noQuery, type RoutesWith } from '../rest/typebox.ts';
import { ownerThing } from './resource.ts';
import { ownerPath, type ApiKeyRoutesRules } from './routes.ts';

/** Dependencies of {@link revokeAllRoute}. */
export interface RevokeAllDeps {
  readonly tenants: Pick<TenantStore, 'revokeAllKeys'>;
  readonly barrier: Barrier;
  /** Name of the receipt header. */
  readonly enforcedHeader: string;
}

const revokedBody = closed({ revoked: Type.Integer() });

/** Adds the route that revokes all of an account's keys. */
export function revokeAllRoute<Access>(
  app: RoutesWith<Access>,
  { tenants, barrier, enforcedHeader }: RevokeAllDeps,
  rules: Omit<ApiKeyRoutesRules<Access>, 'parent'> & {
    /**
     * Returns the parent that the account must belong to, or `null` if the account must itself be a parent. If this
     * function is absent, any account is accepted.
     */
    readonly parent?: ApiKeyRoutesRules<Access>['parent'];
  },
): void {
  app.post(
    `${rules.path}/revoke-all`,
    {
      schema: { params: ownerPath, querystring: noQuery, response: { 200: revokedBody } },
      config: { ...rules.revoke, action: true, takesAway },
    },
    async (request, reply) => {
      const caller = rules.caller(request);
      const claim = idempotencyClaim(request, claimantOf(caller));
      const thing = ownerThing(rules.ownerField);
      const owner = found(parseAccountId(request.params.owner_id), thing);
      const parent = rules.parent?.(request);
      const committed = found(await tenants.revokeAllKeys(owner, claim, caller, parent), thing);
      noteReplay(reply, committed);
      return { revoked: await enforced(committed, barrier, reply, enforcedHeader, rules.countChange) };
    },
  );
}
