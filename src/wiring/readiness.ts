import { sayCause, storeCause } from '../adapters/postgres/connection/causes.ts';
import type { Unreadiness } from '../ops/health.ts';

/** Whether this process should get requests. If not, `/readyz` responds with 503. */
export interface Readiness {
  /** Returns the reasons why this process should get no requests: it cannot decide, or is about to end. */
  unready(): readonly Unreadiness[];
  /** Records that the process is about to end. */
  leave(): void;
  leaseRenewed(): void;
  leaseRenewalFailed(error: unknown): void;
}

interface ReadinessParts {
  /** Returns the reason why the process has not started; `null` after its start. */
  readonly missing: () => Unreadiness | null;
  /** Whether the lease allows this process to decide. */
  readonly holdsLease: () => boolean;
}

export function makeReadiness({ missing, holdsLease }: ReadinessParts): Readiness {
  let leaving = false;
  let trouble: unknown;
  return {
    unready: () => {
      const reason = missing() ?? (holdsLease() ? null : lapsed(trouble));
      return [...(leaving ? [draining] : []), ...(reason === null ? [] : [reason])];
    },
    leave: () => void (leaving = true),
    leaseRenewed: () => void (trouble = undefined),
    leaseRenewalFailed: (error) => void (trouble = error),
  };
}

const draining: Unreadiness = { reason: 'draining', detail: 'This process is about to end.' };

/**
 * Makes the reason to report for a lapsed lease.
 *
 * @param trouble error of the last attempt to renew the lease; `undefined` if that attempt succeeded
 */
function lapsed(trouble: unknown): Unreadiness {
  const cause = storeCause(trouble);
  const why = cause === undefined ? 'the database does not answer.' : sayCause(cause);
  return { reason: 'lease_lapsed', detail: `The lease ran out and cannot be renewed: ${why}` };
}
