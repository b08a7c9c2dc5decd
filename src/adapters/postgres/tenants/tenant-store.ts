import type { Imports } from '../../../ports/imports.ts';
import type { Plans } from '../../../ports/plans.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import type { Runner } from '../connection/pool.ts';
import type { Changes } from './changes.ts';
import { heldKeys } from './held-keys.ts';
import { imports } from './imports.ts';
import { keyChanges, keyRevocations } from './key-changes.ts';
import { keyLookups } from './key-lookups.ts';
import { newKeys } from './new-keys.ts';
import { parents } from './parents.ts';
import { plans } from './plans.ts';
import { subAccounts } from './sub-accounts.ts';

/** Accounts and keys in PostgreSQL. */
export function tenantStore(db: Runner, changes: Changes): TenantStore & Imports & Plans {
  return {
    ...parents(db, changes),
    ...plans(db, changes),
    ...subAccounts(db, changes),
    ...keyLookups(db),
    ...newKeys(changes),
    ...keyChanges(changes),
    ...keyRevocations(changes),
    ...heldKeys(db),
    ...imports(changes),
  };
}
