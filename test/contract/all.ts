import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { coherenceLogContract } from './coherence-log.ts';
import { factSourceContract } from './fact-source.ts';
import { idempotencyContract } from './idempotency.ts';
import { mutationContract } from './mutations.ts';
import { tenantStoreContract } from './tenant-store.ts';
import { usageStoreContract } from './usage-store.ts';

/** Every contract that a store has to keep. `store` must be migrated, and in use by nothing else. */
export async function storeContracts(t: Test, store: Store): Promise<void> {
  await t.test('accounts and keys', (t) => tenantStoreContract(t, store));
  await t.test('what mutations log', (t) => mutationContract(t, store));
  await t.test('requests that come again', (t) => idempotencyContract(t, store));
  await t.test('facts', (t) => factSourceContract(t, store));
  await t.test('coherence log', (t) => coherenceLogContract(t, store));
  await t.test('usage', (t) => usageStoreContract(t, store));
}
