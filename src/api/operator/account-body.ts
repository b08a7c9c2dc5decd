import { Type, type Static } from 'typebox';
import type { ParentAccount, ParentChange } from '../../domain/account.ts';
import { limitsBody, limitsToBody } from '../rest/limits.ts';
import { closed, nullableInteger, nullableText, timestamp } from '../rest/typebox.ts';
import { changeable, changeOf, metadataBody } from '../sub-accounts/resource.ts';

/** Possible statuses of a parent account. */
export const parentStatuses = ['active', 'suspended'] as const;

/** Schema of a parent account in a response body for operators. */
export const accountBody = closed({
  id: Type.String(),
  name: Type.String(),
  external_id: nullableText(),
  status: Type.Enum([...parentStatuses]),
  metadata: metadataBody,
  active_sub_accounts: Type.Integer(),
  max_sub_accounts: nullableInteger(),
  max_api_keys: nullableInteger(),
  limits: limitsBody,
  created_at: timestamp,
  updated_at: timestamp,
});

/** Body of the request that changes a parent account. Each limit has the same maximum as the corresponding setting. */
export const updateBody = closed(
  {
    ...changeable,
    max_sub_accounts: Type.Optional(nullableInteger({ minimum: 0, maximum: 100_000_000 })),
    max_api_keys: Type.Optional(nullableInteger({ minimum: 0, maximum: 1_000_000 })),
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
  ...body
}: Static<typeof updateBody>): ParentChange {
  return {
    ...changeOf(body),
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
    max_sub_accounts: account.maxSubAccounts,
    max_api_keys: account.maxApiKeys,
    limits: limitsToBody(account.limits),
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
  };
}
