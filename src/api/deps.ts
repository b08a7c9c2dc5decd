import type { Config, LimitsConfig, UsageConfig } from '../config.ts';
import type { Barrier } from '../ports/barrier.ts';
import type { TenantConcurrency } from '../limits/concurrency.ts';
import type { Shedding } from '../limits/load-shedding.ts';
import type { Clock } from '../ports/clock.ts';
import type { Directory } from '../ports/directory.ts';
import type { EventStore } from '../ports/events.ts';
import type { PortalSessionStore } from '../ports/portal-sessions.ts';
import type { RateLimiter } from '../ports/limits/rate-limiter.ts';
import type { TenantStore } from '../ports/tenant-store.ts';
import type { Intervals } from '../ports/timers.ts';
import type { UsageStore } from '../ports/usage.ts';
import type { DestinationOf } from './explain/explanation.ts';
import type { FindOperation } from './operations.ts';
import type { SessionSecrets } from './session-secrets.ts';

/** Dependencies of the management endpoints. */
export interface ManagementDeps {
  readonly config: Pick<
    Config,
    | 'headers'
    | 'authentication'
    | 'management'
    | 'keys'
    | 'trustedProxies'
    | 'problems'
    | 'reference'
    | 'portal'
  > & {
    readonly events: Pick<Config['events'], 'bytesPerDay'>;
    readonly usage: Pick<UsageConfig, 'lostAfterMs'>;
    readonly limits: Pick<
      LimitsConfig,
      | 'bodyIdleMs'
      | 'changesPerSecond'
      | 'readsPerSecond'
      | 'keysPerAccount'
      | 'managementBodyBytes'
      | 'minBodyBytesPerMinute'
      | 'subAccountsPerParent'
    >;
  };
  readonly directory: Pick<Directory, 'decide' | 'lookUp'>;
  readonly barrier: Barrier;
  readonly tenants: TenantStore;
  readonly portalSessions: PortalSessionStore;
  readonly sessionSecrets: SessionSecrets;
  readonly events: Pick<EventStore, 'list' | 'get'>;
  readonly usage: Pick<UsageStore, 'report' | 'completeness' | 'parentOf' | 'kept' | 'writesByDefault'>;
  readonly clock: Clock;
  /** If omitted, the machine's. */
  readonly timers?: Intervals;
  readonly rateLimiter: Pick<RateLimiter, 'look'>;
  /** Places of the calls in flight. */
  readonly concurrency: Pick<TenantConcurrency, 'enterCall'>;
  /** Decides which requests to reject while the process is overloaded. */
  readonly shedding: Shedding;
  readonly destinationOf: DestinationOf;
  /** Receives the function that finds the operation for a method and path. Explanations call that function. */
  readonly onOperations?: (find: FindOperation) => void;
  /** Cryptographically secure source of random bytes. */
  readonly randomBytes: (size: number) => Uint8Array;
}
