import type { CoherenceLog } from '../../ports/coherence-log.ts';
import type { FactSource } from '../../ports/facts.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { UsageStore } from '../../ports/usage.ts';

/** Everything the gateway keeps, wherever it is kept. */
export interface Store {
  readonly tenants: TenantStore;
  readonly facts: FactSource;
  readonly log: CoherenceLog;
  readonly usage: UsageStore;
}
