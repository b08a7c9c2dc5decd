import type { Config, LimitsConfig, UsageConfig } from '../../config.ts';
import type { TypedApp } from '../rest/typebox.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Imports } from '../../ports/imports.ts';
import type { EventStore } from '../../ports/events.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { UsageStore } from '../../ports/usage.ts';
import type { UsageReplay } from '../../ports/usage/replay.ts';

/** What the operator API works with. */
export interface AdminDeps {
  readonly config: Pick<Config, 'headers' | 'internal' | 'keys' | 'trustedProxies'> & {
    readonly usage: Pick<UsageConfig, 'lostAfterMs'>;
    readonly limits: Pick<LimitsConfig, 'keysPerAccount' | 'managementBodyBytes' | 'subAccountsPerParent'>;
  };
  readonly tenants: TenantStore & Imports;
  readonly events: Pick<EventStore, 'list' | 'get'>;
  readonly usage: Pick<UsageStore, 'report' | 'completeness' | 'parentOf' | 'kept' | 'reconcile'>;
  /** Exports usage again; `null` where it is not exported. */
  readonly usageReplay: UsageReplay | null;
  readonly barrier: Barrier;
  readonly clock: Clock;
  /** A cryptographic source. */
  readonly randomBytes: (size: number) => Uint8Array;
  /** Further operations, behind the same token. */
  readonly more?: (app: TypedApp) => void;
}
