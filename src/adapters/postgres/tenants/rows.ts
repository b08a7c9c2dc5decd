import type { ApiKey } from '../../../domain/api-key.ts';
import type {
  AccountChange,
  Metadata,
  ParentAccount,
  ParentChange,
  SubAccount,
} from '../../../domain/account.ts';
import type { AccountId, KeyId } from '../../../domain/ids.ts';
import {
  limitsFromMembers,
  limitsToMembers,
  noLimits,
  type LimitMembers,
  type Limits,
} from '../../../domain/limits/limits.ts';
import { effectiveLimits, unlimited, type Own, type OwnLimits } from '../../../domain/limits/plan.ts';
import type { KeyChange } from '../../../ports/api-keys.ts';

/** Limits in an account or key row; keys have no daily or monthly limits. */
export type LimitColumns = LimitMembers<Partial<Limits>>;

/**
 * A row of `account`, read as JSON, in which times are ISO 8601. Some columns are null for parents and others for
 * sub-accounts; the table checks that.
 */
export interface AccountRow extends LimitColumns {
  readonly id: AccountId;
  readonly parent_id: AccountId | null;
  readonly name: string;
  readonly external_id: string | null;
  readonly status: 'active' | 'deactivated' | 'suspended';
  readonly metadata: Metadata;
  readonly active_sub_accounts: number | null;
  readonly max_sub_accounts: number | null;
  readonly max_api_keys: number | null;
  readonly plan: string | null;
  /** Names of the columns whose limits are lifted. */
  readonly unlimited: readonly string[];
  /** Limits of the plan; absent or `null` if there is none. */
  readonly plan_limits?: LimitColumns | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deactivated_at: string | null;
}

/** A row of `api_key` as JSON, without its digests. */
export interface KeyRow extends LimitColumns {
  readonly id: KeyId;
  readonly account_id: AccountId;
  readonly name: string;
  readonly scopes: readonly string[];
  /** `prefix` and `last4` may be null for imported keys; minted keys have both. */
  readonly prefix: string | null;
  readonly last4: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly rotated_from: KeyId | null;
}

export function toParent(row: AccountRow): ParentAccount {
  const limits = toOwnLimits(row);
  return {
    id: row.id,
    name: row.name,
    externalId: row.external_id,
    status: row.status as ParentAccount['status'],
    metadata: row.metadata,
    activeSubAccounts: row.active_sub_accounts ?? 0,
    plan: row.plan,
    maxSubAccounts: own(row, 'max_sub_accounts'),
    maxApiKeys: own(row, 'max_api_keys'),
    limits,
    effectiveLimits: effectiveLimits(limits, row.plan_limits ? toLimits(row.plan_limits) : null),
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}

export function toSubAccount(row: AccountRow): SubAccount {
  return {
    id: row.id,
    parentId: row.parent_id as AccountId,
    name: row.name,
    externalId: row.external_id,
    status: row.status as SubAccount['status'],
    metadata: row.metadata,
    limits: toLimits(row),
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    deactivatedAt: dateOrNull(row.deactivated_at),
  };
}

/** Converts a change to the form that the SQL functions take. Absent members leave their columns unchanged. */
export function patchOf({ name, externalId, metadata, limits }: AccountChange) {
  return {
    ...(name !== undefined && { name }),
    ...(externalId !== undefined && { external_id: externalId }),
    ...(metadata !== undefined && { metadata }),
    ...(limits !== undefined && { limits: limitsToMembers(limits) }),
  };
}

/** Converts a change to a parent to the form that the SQL functions take; see {@link patchOf}. */
export function parentPatchOf({ plan, maxSubAccounts, maxApiKeys, limits, ...change }: ParentChange) {
  return {
    ...patchOf(change),
    ...(plan !== undefined && { plan }),
    ...(limits !== undefined && { limits: limitsToMembers(limits) }),
    ...(maxSubAccounts !== undefined && { max_sub_accounts: maxSubAccounts }),
    ...(maxApiKeys !== undefined && { max_api_keys: maxApiKeys }),
  };
}

/** Converts a change to a key to the form that `api_key_update` takes; see {@link patchOf}. */
export function keyPatchOf({ expiresAt, limits, ...labels }: KeyChange) {
  return {
    ...labels,
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(limits !== undefined && { limits: limitsToMembers(limits) }),
  };
}

export function toApiKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    scopes: row.scopes,
    prefix: row.prefix,
    last4: row.last4,
    createdAt: new Date(row.created_at),
    lastUsedAt: dateOrNull(row.last_used_at),
    expiresAt: dateOrNull(row.expires_at),
    revokedAt: dateOrNull(row.revoked_at),
    rotatedFrom: row.rotated_from,
    limits: toLimits(row),
  };
}

export function toLimits(row: LimitColumns): Limits {
  return { ...noLimits, ...limitsFromMembers<Partial<Limits>>(row) };
}

/** Columns of a parent's own limits. */
type OwnColumns = LimitColumns & Pick<AccountRow, 'unlimited' | 'max_sub_accounts' | 'max_api_keys'>;

/** Returns a parent's own limits. */
export function toOwnLimits(row: OwnColumns): OwnLimits {
  const lifted = Object.fromEntries(row.unlimited.map((column) => [column, unlimited]));
  return { ...toLimits(row), ...limitsFromMembers<Partial<OwnLimits>>(lifted) };
}

function own(row: OwnColumns, column: 'max_sub_accounts' | 'max_api_keys'): Own {
  return row.unlimited.includes(column) ? unlimited : row[column];
}

function dateOrNull(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}
