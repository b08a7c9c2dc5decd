import type { ApiKeyStatus } from '../../../domain/api-key.ts';
import type { AccountId, KeyId } from '../../../domain/ids.ts';
import type { ChangedKey, HeldKey, KeyFilter, KeyHolding } from '../../../ports/api-keys.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql } from '../connection/sql.ts';
import { aboveEveryId, pageOf } from '../page.ts';
import { digestBytes } from './changes.ts';
import { toApiKey, type KeyRow } from './rows.ts';

/** Finds keys of any account for operators, along with the accounts that hold them. */
export function heldKeys(db: Runner): Pick<TenantStore, 'findKeys'> {
  return {
    async findKeys(filter, { limit, after = aboveEveryId }) {
      const rows = await db.run(
        (sql) => sql<HeldKeyRow[]>`
          select api_key_shown(to_jsonb(k)) as key, ${holding(sql)} as holding from ${holders(sql)}
          where k.id < ${after} and a.deleted_at is null and p.deleted_at is null ${conditionsOf(sql, filter)}
          order by k.id desc limit ${limit + 1}`,
      );
      return pageOf(rows, limit, (row): HeldKey => ({ key: toApiKey(row.key), ...row.holding }));
    },
  };
}

/** Columns that a statement with {@link andHolding} returns. */
interface Held {
  readonly key: KeyRow;
  readonly holding?: KeyHolding;
}

interface HeldKeyRow {
  readonly key: KeyRow;
  readonly holding: KeyHolding;
}

function holding(sql: Sql): ReturnType<Sql> {
  return sql`jsonb_build_object(
    'account',
    jsonb_build_object('id', a.id, 'name', a.name, 'status', a.status, 'externalId', a.external_id),
    'parent',
    case when p.id is not null then jsonb_build_object('id', p.id, 'name', p.name, 'status', p.status) end
  )`;
}

function holders(sql: Sql): ReturnType<Sql> {
  return sql`api_key k join account a on a.id = k.account_id left join account p on p.id = a.parent_id`;
}

/**
 * Returns SQL for a key's account, for use as an argument of a change function: the given account or, if it is `null`,
 * the account that has the key.
 */
export function accountOfKey(sql: Sql, account: AccountId | null, key: KeyId): ReturnType<Sql> {
  return account === null ? sql`(select k.account_id from api_key k where k.id = ${key})` : sql`${account}`;
}

/**
 * Returns SQL that adds the column `holding` behind the call of a change function. The column has the account that holds
 * the key, and the account's parent. Returns empty SQL if `account` is given.
 */
export function andHolding(sql: Sql, account: AccountId | null, key: KeyId): ReturnType<Sql> {
  if (account !== null) return sql``;
  return sql`left join (select ${holding(sql)} from ${holders(sql)} where k.id = ${key}) h (holding) on true`;
}

/** Converts the result of a statement with {@link andHolding} to the changed key. */
export function changedKey({ key, holding }: Held): ChangedKey {
  return { ...toApiKey(key), ...(holding && { holding }) };
}

function conditionsOf(sql: Sql, { id, digest, prefix, last4, account, status }: KeyFilter): ReturnType<Sql> {
  return sql`
    ${id === undefined ? sql`` : sql`and k.id = ${id}`}
    ${digest === undefined ? sql`` : sql`and k.digest = ${digestBytes(digest)}`}
    ${prefix === undefined ? sql`` : sql`and (starts_with(k.prefix, ${prefix}) or starts_with(${prefix}, k.prefix))`}
    ${last4 === undefined ? sql`` : sql`and k.last4 = ${last4}`}
    ${account === undefined ? sql`` : sql`and k.account_id = ${account}`}
    ${status === undefined ? sql`` : statusCondition(sql, status)}`;
}

/**
 * Returns the SQL condition for a key status. The condition agrees with `apiKeyStatus`, but uses the database's clock.
 */
export function statusCondition(sql: Sql, status: ApiKeyStatus): ReturnType<Sql> {
  switch (status) {
    case 'revoked':
      return sql`and k.revoked_at is not null`;
    case 'expired':
      return sql`and k.revoked_at is null and k.expires_at <= now()`;
    case 'active':
      return sql`and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;
  }
}
