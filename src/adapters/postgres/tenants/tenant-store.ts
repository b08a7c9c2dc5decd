import type { TenantStore } from '../../../ports/tenant-store.ts';
import { apiKeys } from './api-keys.ts';
import type { Hints } from '../coherence/hints.ts';
import { onceStore } from './once.ts';
import { parents } from './parents.ts';
import { keyDigests } from './key-digests.ts';
import type { Runner } from '../connection/pool.ts';
import { subAccounts } from './sub-accounts.ts';

/** Accounts and keys in PostgreSQL. `hints` is nudged after every mutation that somebody may wait for. */
export function tenantStore(db: Runner, hints: Hints): TenantStore {
  return {
    ...parents(db, hints),
    ...subAccounts(db, hints),
    ...apiKeys(db, hints),
    ...keyDigests(db),
    once: (request) => onceStore(db, hints, request),
  };
}
