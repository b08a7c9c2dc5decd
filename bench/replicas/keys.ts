import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { createKey } from '../../test/support/store.ts';

/** A key, and whose. */
export interface KeyToRevoke {
  readonly account: AccountId;
  readonly key: KeyId;
}

/** Makes keys of one account. */
export async function makeKeys(
  { tenants }: Store,
  account: AccountId,
  count: number,
): Promise<KeyToRevoke[]> {
  const keys: KeyToRevoke[] = [];
  while (keys.length < count) {
    const { key } = await createKey(tenants, account);
    keys.push({ account, key: key.id });
  }
  return keys;
}
