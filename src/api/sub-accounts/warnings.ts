import { Type, type Static } from 'typebox';
import type { AccountId } from '../../domain/ids.ts';
import { dayMs } from '../../domain/usage.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committed, TenantStore } from '../../ports/tenant-store.ts';
import type { UsageStore } from '../../ports/usage.ts';
import { closed } from '../rest/typebox.ts';

/** A warning in the response to a change. */
export const warningBody = closed({ code: Type.String(), detail: Type.String() });

/** Dependencies of {@link warningsOf}. */
export interface WarningDeps {
  readonly tenants: Pick<TenantStore, 'getParent'>;
  readonly usage: Pick<UsageStore, 'writesByDefault'>;
  readonly clock: Pick<Clock, 'wallMs'>;
}

/** Number of whole UTC days before today in the look-back period. The period also includes today. */
const lookBackDays = 7;

/**
 * Returns the start of the look-back period, milliseconds since 1970. Writes without the acting header give a warning
 * only if they were made in the look-back period.
 */
export function onboardingSinceMs(nowMs: number): number {
  return (Math.floor(nowMs / dayMs) - lookBackDays) * dayMs;
}

/**
 * Returns the member `warnings` for the response to a request that created a sub-account; `{}` if there is no warning.
 * A parent with an active sub-account needs the acting header for writes. So there is a warning if the new sub-account
 * is the parent's only active one, and the parent's keys have recently been used for writes without the header. Errors
 * also give `{}`: they must not fail the request, because the sub-account already exists.
 */
export async function warningsOf(
  { tenants, usage, clock }: WarningDeps,
  parent: AccountId,
  { seq }: Pick<Committed<unknown>, 'seq'>,
): Promise<{ warnings?: Static<typeof warningBody>[] }> {
  // The creation of a parent's first active sub-account always has a `seq`, because every replica must apply it.
  if (seq === null) return {};
  try {
    if ((await tenants.getParent(parent, parent))?.activeSubAccounts !== 1) return {};
    const { keys } = await usage.writesByDefault(parent, onboardingSinceMs(clock.wallMs()));
    const writes = keys.reduce((sum, { requests }) => sum + requests, 0);
    if (writes === 0) return {};
    const held = keys.length === 1 ? 'one API key' : `${keys.length} API keys`;
    const made = writes === 1 ? 'one write' : `${writes} writes`;
    const detail =
      `In the last ${lookBackDays} days ${made} with ${held} of this account had no acting header. From now on ` +
      'such writes are 400: `GET /v1/sub-accounts/onboarding` names the keys.';
    return { warnings: [{ code: 'acting_tenant_required', detail }] };
  } catch {
    return {};
  }
}
