import type { AccountId } from '../domain/ids.ts';
import { operatorCaller, type ChangedBy, type IdempotencyClaim } from '../ports/changes.ts';

/** Returns the owner of a call's `Idempotency-Key`: the id of the caller's API key or portal session, or the operator. */
export function claimantOf(caller: ChangedBy): IdempotencyClaim['caller'] {
  return 'operator' in caller ? operatorCaller : (caller.portalSession ?? caller.keyId);
}

/**
 * Returns the tenant whose queue a store call joins. Each tenant has a queue, and the queues take turns. Operators do
 * not queue, so the result for an operator is `undefined`.
 */
export function tenantOf(caller: ChangedBy): AccountId | undefined {
  return 'operator' in caller ? undefined : caller.accountId;
}
