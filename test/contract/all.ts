import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { tenantStoreContract } from './tenant-store.ts';

/** Every contract that a store has to keep. `store` must be migrated, and nobody else may use it. */
export async function storeContracts(t: Test, store: Store): Promise<void> {
  await t.test('accounts and keys', (t) => tenantStoreContract(t, store));
}
