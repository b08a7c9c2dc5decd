import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { accountListContract } from './account-lists.ts';
import { anyKeysContract } from './any-keys.ts';
import { callerContract } from './callers.ts';
import { coherenceLogContract } from './coherence-log.ts';
import { eventListContract } from './event-lists.ts';
import { eventContract } from './events.ts';
import { factSourceContract } from './fact-source.ts';
import { idempotencyContract } from './idempotency.ts';
import { importKeysContract } from './import-keys.ts';
import { keyLifeContract } from './key-life.ts';
import { importRowsContract } from './import-rows.ts';
import { mutationContract } from './mutations.ts';
import { parentLimitContract } from './parent-limits.ts';
import { parentContract } from './parents.ts';
import { limitContract } from './limits.ts';
import { revokeAllContract } from './revoke-all.ts';
import { putSubAccountContract } from './put-sub-account.ts';
import { quotaContract } from './quotas.ts';
import { tenantStoreContract } from './tenant-store.ts';
import { bucketContract } from './buckets.ts';
import { usageExportContract } from './usage-export.ts';
import { usageReportContract } from './usage-reports.ts';
import { usageSharedKeysContract } from './usage-shared-keys.ts';
import { usageStoreContract } from './usage-store.ts';
import { writesByDefaultContract } from './writes-by-default.ts';

/** Every contract that a store has to keep. `store` must be migrated, and in use by nothing else. */
export async function storeContracts(t: Test, store: Store): Promise<void> {
  await t.test('parents', (t) => parentContract(t, store));
  await t.test('sub-accounts and keys', (t) => tenantStoreContract(t, store));
  await t.test('lists of accounts and keys', (t) => accountListContract(t, store));
  await t.test('sub-accounts by external_id', (t) => putSubAccountContract(t, store));
  await t.test('limits of requests', (t) => limitContract(t, store));
  await t.test('limits of parents', (t) => parentLimitContract(t, store));
  await t.test('the life of a key', (t) => keyLifeContract(t, store));
  await t.test('all keys of an account', (t) => revokeAllContract(t, store));
  await t.test('many rows in one call', (t) => importRowsContract(t, store));
  await t.test('any key', (t) => anyKeysContract(t, store));
  await t.test('what mutations log', (t) => mutationContract(t, store));
  await t.test('requests that come again', (t) => idempotencyContract(t, store));
  await t.test('callers that lost their right', (t) => callerContract(t, store));
  await t.test('events', (t) => eventContract(t, store));
  await t.test('lists of events', (t) => eventListContract(t, store));
  await t.test('facts', (t) => factSourceContract(t, store));
  await t.test('coherence log', (t) => coherenceLogContract(t, store));
  await t.test('usage', (t) => usageStoreContract(t, store));
  await t.test('usage reports', (t) => usageReportContract(t, store));
  await t.test('keys that share usage', (t) => usageSharedKeysContract(t, store));
  await t.test('buckets of limits', (t) => bucketContract(t, store.buckets));
  await t.test('what is used of quotas', (t) => quotaContract(t, store));
  await t.test('writes by default', (t) => writesByDefaultContract(t, store));
  await t.test('the export of usage', (t) => usageExportContract(t, store));
  // Last, since it fills the log.
  await t.test('keys that were made elsewhere', (t) => importKeysContract(t, store));
}
