import { Type, type Static } from 'typebox';
import type { ParentAccount, ParentChange } from '../../domain/account.ts';
import { limitsFromMembers, limitsToMembers } from '../../domain/limits/limits.ts';
import { planNamePattern, type OwnLimits } from '../../domain/limits/plan.ts';
import { limitsBody, ownInteger, ownLimits, ownLimitsBody } from '../rest/limits.ts';
import { closed, nullableText, timestamp } from '../rest/typebox.ts';
import { mostAllowed } from './plan-body.ts';
import { changeable, changeOf, metadataBody } from '../sub-accounts/resource.ts';

/** Possible statuses of a parent account. */
export const parentStatuses = ['active', 'suspended'] as const;

/** Schema of the name of a plan, or `null` for no plan. */
export const planName = nullableText({
  pattern: planNamePattern,
  description: 'the name of a plan: lower-case letters, digits and hyphens',
});

/** Schema of a parent account in a response body for operators. */
export const accountBody = closed({
  id: Type.String(),
  name: Type.String(),
  external_id: nullableText(),
  status: Type.Enum([...parentStatuses]),
  metadata: metadataBody,
  active_sub_accounts: Type.Integer(),
  plan: nullableText(),
  max_sub_accounts: ownInteger(),
  max_api_keys: ownInteger(),
  limits: ownLimitsBody,
  effective_limits: limitsBody,
  created_at: timestamp,
  updated_at: timestamp,
});

/** Body of the request that changes a parent account. Each limit has the same maximum as the corresponding setting. */
export const updateBody = closed(
  {
    ...changeable,
    limits: ownLimits,
    plan: Type.Optional(planName),
    max_sub_accounts: Type.Optional(ownInteger({ minimum: 0, maximum: mostAllowed.subAccounts })),
    max_api_keys: Type.Optional(ownInteger({ minimum: 0, maximum: mostAllowed.apiKeys })),
    status: Type.Optional(
      Type.Unsafe<never>({ not: {}, description: 'changes only by POST to …/suspend and …/resume.' }),
    ),
  },
  { minProperties: 1 },
);

/** Converts a request body to a change of a parent account. */
export function parentChangeOf({
  max_sub_accounts: maxSubAccounts,
  max_api_keys: maxApiKeys,
  plan,
  limits,
  ...body
}: Static<typeof updateBody>): ParentChange {
  return {
    ...changeOf(body),
    ...(limits !== undefined && { limits: limitsFromMembers<Partial<OwnLimits>>(limits) }),
    ...(plan !== undefined && { plan }),
    ...(maxSubAccounts !== undefined && { maxSubAccounts }),
    ...(maxApiKeys !== undefined && { maxApiKeys }),
  };
}

/** Returns the response body for a parent account. */
export function accountToBody(account: ParentAccount): Static<typeof accountBody> {
  return {
    id: account.id,
    name: account.name,
    external_id: account.externalId,
    status: account.status,
    metadata: account.metadata,
    active_sub_accounts: account.activeSubAccounts,
    plan: account.plan,
    max_sub_accounts: account.maxSubAccounts,
    max_api_keys: account.maxApiKeys,
    limits: limitsToMembers(account.limits),
    effective_limits: limitsToMembers(account.effectiveLimits),
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
  };
}
