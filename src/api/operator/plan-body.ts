import { Type, type Static } from 'typebox';
import { limitsFromMembers, limitsToMembers, noLimits, type Limits } from '../../domain/limits/limits.ts';
import type { Plan, PlanTerms } from '../../domain/limits/plan.ts';
import { accountLimits, limitsBody } from '../rest/limits.ts';
import { closed, nullableInteger, timestamp } from '../rest/typebox.ts';

/** Most sub-accounts and API keys that an account or a plan may allow, as in the configuration. */
export const mostAllowed = { subAccounts: 100_000_000, apiKeys: 1_000_000 };

/** Schema of a plan in a response body. */
export const planBody = closed({
  name: Type.String(),
  limits: limitsBody,
  max_sub_accounts: nullableInteger(),
  max_api_keys: nullableInteger(),
  created_at: timestamp,
  updated_at: timestamp,
});

/** Body of the request that creates or replaces a plan. A missing member is `null`. */
export const putPlanBody = closed({
  limits: accountLimits,
  max_sub_accounts: Type.Optional(nullableInteger({ minimum: 0, maximum: mostAllowed.subAccounts })),
  max_api_keys: Type.Optional(nullableInteger({ minimum: 0, maximum: mostAllowed.apiKeys })),
});

/** Reads what a plan says from a request body. */
export function planTermsOf({
  limits = {},
  max_sub_accounts: maxSubAccounts = null,
  max_api_keys: maxApiKeys = null,
}: Static<typeof putPlanBody>): PlanTerms {
  return {
    limits: { ...noLimits, ...limitsFromMembers<Partial<Limits>>(limits) },
    maxSubAccounts,
    maxApiKeys,
  };
}

/** Returns the response body for a plan. */
export function planToBody(plan: Plan): Static<typeof planBody> {
  return {
    name: plan.name,
    limits: limitsToMembers(plan.limits),
    max_sub_accounts: plan.maxSubAccounts,
    max_api_keys: plan.maxApiKeys,
    created_at: plan.createdAt.toISOString(),
    updated_at: plan.updatedAt.toISOString(),
  };
}
