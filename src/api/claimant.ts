import type { AccountId } from '../domain/ids.ts';
import { operatorCaller, type ChangedBy, type IdempotencyClaim } from '../ports/changes.ts';

/** Owner of the `Idempotency-Key` of a call. */
export function claimantOf(caller: ChangedBy): IdempotencyClaim['caller'] {
  return 'operator' in caller ? operatorCaller : caller.keyId;
}

/** Tenant whose turn a call of the store takes. Operators take no turns. */
export function tenantOf(caller: ChangedBy): AccountId | undefined {
  return 'operator' in caller ? undefined : caller.accountId;
}
