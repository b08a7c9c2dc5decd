import type { AccountId } from '../domain/ids.ts';
import { operatorCaller, type ChangedBy, type IdempotencyClaim } from '../ports/changes.ts';

/** Whose `Idempotency-Key` it is. */
export function claimantOf(caller: ChangedBy): IdempotencyClaim['caller'] {
  return 'operator' in caller ? operatorCaller : caller.keyId;
}

/** Whose turn a call takes; operators have none. */
export function tenantOf(caller: ChangedBy): AccountId | undefined {
  return 'operator' in caller ? undefined : caller.accountId;
}
