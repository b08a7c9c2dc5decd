import { Type, type Static } from 'typebox';
import type { ParentAccount } from '../../domain/account.ts';
import { closed, nullableText, timestamp } from '../rest/typebox.ts';
import { metadataBody } from '../sub-accounts/resource.ts';

/** What a parent account can be. */
export const parentStatuses = ['active', 'suspended'] as const;

/** A parent account in responses to operators. */
export const accountBody = closed({
  id: Type.String(),
  name: Type.String(),
  external_id: nullableText(),
  status: Type.Enum([...parentStatuses]),
  metadata: metadataBody,
  active_sub_accounts: Type.Integer(),
  created_at: timestamp,
  updated_at: timestamp,
});

/** Writes a parent account. */
export function accountToBody(account: ParentAccount): Static<typeof accountBody> {
  return {
    id: account.id,
    name: account.name,
    external_id: account.externalId,
    status: account.status,
    metadata: account.metadata,
    active_sub_accounts: account.activeSubAccounts,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
  };
}
