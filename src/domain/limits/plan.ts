import { noLimits, type Limits } from './limits.ts';

/** Form of a plan's name. */
export const planNamePattern = '^[a-z0-9][a-z0-9-]{0,62}$';

/** Lifts a limit of the account's plan. */
export const unlimited = 'unlimited';

/** A parent's own value of a limit or maximum; `null` means the value of its plan. */
export type Own = number | typeof unlimited | null;

/**
 * A parent's own limits. `null` means the limit of its plan, or no limit without a plan. `burst` belongs to
 * `requestsPerSecond`: both come from the parent, or both from the plan.
 */
export type OwnLimits = { readonly [Name in keyof Limits]: Name extends 'burst' ? number | null : Own };

/** What a plan says. */
export interface PlanTerms {
  /** Limits on requests for each parent with the plan and its sub-accounts combined; `null` for no limit. */
  readonly limits: Limits;
  /** Maximum number of sub-accounts of a parent; `null` means the configured limit. */
  readonly maxSubAccounts: number | null;
  /** Maximum number of active keys for a parent and for each of its sub-accounts; `null` means the configured limit. */
  readonly maxApiKeys: number | null;
}

/** A named set of limits that parents share. */
export interface Plan extends PlanTerms {
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/**
 * Returns the limits in force for a parent: its own where it has one, otherwise those of its plan.
 *
 * @param plan limits of the parent's plan; `null` if it has no plan
 */
export function effectiveLimits(own: OwnLimits, plan: Limits | null): Limits {
  const { requestsPerSecond, burst, requestsPerMinute, requestsPerDay, requestsPerMonth, unitsPerMonth } =
    own;
  const base = plan ?? noLimits;
  const hasOwnRate = requestsPerSecond !== null;
  return {
    requestsPerSecond: inForce(requestsPerSecond, base.requestsPerSecond),
    burst: hasOwnRate ? burst : base.burst,
    requestsPerMinute: inForce(requestsPerMinute, base.requestsPerMinute),
    requestsPerDay: inForce(requestsPerDay, base.requestsPerDay),
    requestsPerMonth: inForce(requestsPerMonth, base.requestsPerMonth),
    unitsPerMonth: inForce(unitsPerMonth, base.unitsPerMonth),
  };
}

function inForce(own: Own, ofPlan: number | null): number | null {
  if (own === unlimited) return null;
  return own ?? ofPlan;
}

/** Whether any limit is set. A burst alone limits nothing. */
export function hasLimits(limits: Limits): boolean {
  return (
    limits.requestsPerSecond !== null ||
    limits.requestsPerMinute !== null ||
    limits.requestsPerDay !== null ||
    limits.requestsPerMonth !== null ||
    limits.unitsPerMonth !== null
  );
}
