import { randomBytes } from 'node:crypto';
import { formatSecret, secretRandomBytes } from '../../src/domain/api-key.ts';
import { uuidV7 } from '../../src/domain/ids.ts';

/** An account and where it stands. */
export interface Account {
  readonly id: string;
  /** `null` for the parent. */
  readonly parentId: string | null;
  readonly externalId: string | null;
  readonly status: 'active' | 'deactivated';
}

/** An API key and whose it is. */
export interface Key {
  readonly id: string;
  readonly text: string;
  readonly accountId: string;
  readonly scopes: readonly string[];
}

/** What a target knows: one parent, its sub-accounts, a key of the parent and one of the first sub-account. */
export interface Tenants {
  readonly parent: Account;
  readonly subAccounts: readonly Account[];
  readonly parentKey: Key;
  readonly subAccountKey: Key;
}

/** Sub-accounts of the one parent. The last one is deactivated. */
export const subAccountCount = 1_000;

/** What a sub-account is called by its parent. */
export function externalIdOf(index: number): string {
  return `customer-${index}`;
}

/** Tenants for every target that keeps no store of its own. */
export function inventTenants(): Tenants {
  const parent: Account = { id: newId(), parentId: null, externalId: null, status: 'active' };
  const subAccounts = Array.from({ length: subAccountCount }, (_, index): Account => ({
    id: newId(),
    parentId: parent.id,
    externalId: externalIdOf(index),
    status: index === subAccountCount - 1 ? 'deactivated' : 'active',
  }));
  return {
    parent,
    subAccounts,
    parentKey: newKey(parent.id, ['sub_accounts:read', 'sub_accounts:write']),
    subAccountKey: newKey(at(subAccounts, 0).id, ['tracking:read', 'tracking:write']),
  };
}

/** The sub-account measurements act as, and one that must be rejected. */
export function actingAccounts({ subAccounts }: Tenants): {
  readonly active: Account;
  readonly deactivated: Account;
} {
  return { active: at(subAccounts, Math.floor(subAccounts.length / 2)), deactivated: at(subAccounts, -1) };
}

/** An API key that is well formed, so that only a look-up can tell that it does not exist. */
export function unknownKey(): string {
  return formatSecret('tgw', randomBytes(secretRandomBytes));
}

function newKey(accountId: string, scopes: readonly string[]): Key {
  return { id: newId(), text: unknownKey(), accountId, scopes };
}

function newId(): string {
  return uuidV7(Date.now(), randomBytes(10));
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items.at(index);
  if (item === undefined) throw new RangeError(`nothing at ${index}`);
  return item;
}
