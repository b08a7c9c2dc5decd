/** What tests ask a store to make: ids that nothing has yet, and values that stand for themselves. */
import { randomBytes } from 'node:crypto';
import { digestSecret } from '../../src/domain/api-key.ts';
import { uuidV7, type AccountId, type KeyId } from '../../src/domain/ids.ts';
import { noLimits, type Limits } from '../../src/domain/limits/limits.ts';
import type { PlanTerms } from '../../src/domain/limits/plan.ts';
import type { KeyToImport, NewApiKey } from '../../src/ports/api-keys.ts';
import type { IdempotencyClaim } from '../../src/ports/changes.ts';
import type { NewSubAccount } from '../../src/ports/tenant-store.ts';

export function newAccountId(): AccountId {
  return uuidV7(laterMs(), randomBytes(10)) as AccountId;
}

export function newKeyId(): KeyId {
  return uuidV7(laterMs(), randomBytes(10)) as KeyId;
}

let lastMs = 0;

/** The time, and never the same twice: ids of one millisecond come in any order, and lists are read by order. */
function laterMs(): number {
  lastMs = Math.max(Date.now(), lastMs + 1);
  return lastMs;
}

export function subAccountDraft(draft: Partial<NewSubAccount> = {}): NewSubAccount {
  return { id: newAccountId(), name: 'Sub', externalId: null, metadata: {}, ...draft };
}

export function keyDraft(draft: Partial<NewApiKey> = {}): NewApiKey {
  return {
    id: newKeyId(),
    name: 'Key',
    scopes: [],
    digest: digestSecret(randomBytes(24).toString('hex')),
    clientSecretDigest: digestSecret(randomBytes(24).toString('hex')),
    prefix: 'tgw_abcd',
    last4: 'wxyz',
    expiresAt: null,
    ...draft,
  };
}

/** A key that was made elsewhere. */
export function foreignKey(owner: AccountId, more: Partial<KeyToImport> = {}): KeyToImport {
  const { clientSecretDigest: _secret, ...key } = keyDraft();
  return { ...key, owner, prefix: null, last4: null, ...more };
}

/** The terms of a plan that limits nothing but what is named. */
export function planTerms(limits: Partial<Limits> = {}, more: Partial<PlanTerms> = {}): PlanTerms {
  return { limits: { ...noLimits, ...limits }, maxSubAccounts: null, maxApiKeys: null, ...more };
}

/** The claim of a request that has not been made yet. */
export function newClaim(caller: IdempotencyClaim['caller'] = newKeyId()): IdempotencyClaim {
  return { caller, key: digestSecret(newKeyId()), fingerprint: digestSecret('what is asked for') };
}
