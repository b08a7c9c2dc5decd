import type { Config, LimitsConfig, UsageConfig } from '../../config.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Imports } from '../../ports/imports.ts';
import type { ErasureStore } from '../../ports/erasures.ts';
import type { Plans } from '../../ports/plans.ts';
import type { Intervals } from '../../ports/timers.ts';
import type { EventStore } from '../../ports/events.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { UsageStore } from '../../ports/usage.ts';
import type { UsageReplay } from '../../ports/usage/replay.ts';
import type { OperatorSessions } from './operator-sessions.ts';
import type { OperatorAccess, OperatorApp } from './operator-token.ts';

/** Dependencies of the operator API. */
export interface AdminDeps {
  readonly config: Pick<Config, 'headers' | 'keys' | 'operators' | 'trustedProxies'> & {
    readonly usage: Pick<UsageConfig, 'lostAfterMs'>;
    readonly limits: Pick<
      LimitsConfig,
      | 'bodyIdleMs'
      | 'keysPerAccount'
      | 'managementBodyBytes'
      | 'minBodyBytesPerMinute'
      | 'subAccountsPerParent'
    >;
  };
  /** The tokens in force. */
  readonly operatorTokens: OperatorAccess['tokens'];
  /** Sessions that operators begin with their tokens. */
  readonly operatorSessions: OperatorSessions;
  /** Slows down networks that send wrong tokens. */
  readonly tokenGuesses: OperatorAccess['guesses'];
  readonly tenants: TenantStore & Imports & Plans;
  readonly events: Pick<EventStore, 'list' | 'get'>;
  readonly erasures: Pick<ErasureStore, 'get'>;
  readonly usage: Pick<
    UsageStore,
    'report' | 'completeness' | 'parentOf' | 'kept' | 'writesByDefault' | 'silent' | 'forget'
  >;
  /** Exports the usage of past hours on request; `null` if no usage export is configured. */
  readonly usageReplay: UsageReplay | null;
  readonly barrier: Barrier;
  readonly clock: Clock;
  /** If omitted, the machine's. */
  readonly timers?: Intervals;
  /** Cryptographically secure source of random bytes. */
  readonly randomBytes: (size: number) => Uint8Array;
  /** Adds further operations to the operator API, such as `GET /replicas`. */
  readonly more?: (app: OperatorApp) => void;
}
