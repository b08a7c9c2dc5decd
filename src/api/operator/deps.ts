import type { Config, LimitsConfig } from '../../config.ts';
import type { TypedApp } from '../rest/typebox.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { Clock } from '../../ports/clock.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';

/** What the operator API works with. */
export interface AdminDeps {
  readonly config: Pick<Config, 'headers' | 'internal'> & {
    readonly limits: Pick<LimitsConfig, 'keysPerAccount' | 'managementBodyBytes'>;
  };
  readonly tenants: TenantStore;
  readonly barrier: Barrier;
  readonly clock: Clock;
  /** A cryptographic source. */
  readonly randomBytes: (size: number) => Uint8Array;
  /** Further operations, behind the same token. */
  readonly more?: (app: TypedApp) => void;
}
