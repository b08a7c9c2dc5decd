import type { AccountId } from '../domain/ids.ts';
import { operatorCaller, type ChangedBy, type IdempotencyClaim } from '../ports/changes.ts';

/** Owner of the `Idempotency-Key` of a call. */
export function claimantOf(caller: ChangedBy): IdempotencyClaim['caller'] {
  return 'operator' in caller ? operatorCaller : caller.keyId;
}

/** Tenant in whose turn a call uses the store; operators do not take turns. */
export function tenantOf(caller: ChangedBy): AccountId | undefined {
  return 'operator' in caller ? undefined : caller.accountId;
}
