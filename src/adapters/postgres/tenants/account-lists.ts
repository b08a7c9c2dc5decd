import type { AccountId } from '../../../domain/ids.ts';
import type { PageQuery, ParentFilter, SubAccountFilter } from '../../../ports/tenant-store.ts';
import type { Sql } from '../connection/sql.ts';
import { aboveEveryId } from '../page.ts';
import type { AccountRow } from './rows.ts';

/** A row of a query for accounts. */
export interface ListedAccount {
  readonly account: AccountRow;
}

/**
 * Lists the accounts on a page, plus the first account of the next page, if any.
 *
 * An index is read in order from the end of the previous page; accounts that a filter excludes are skipped.
 *
 * @param parent parent whose sub-accounts are listed; `null` lists parents
 */
export function listAccounts(
  sql: Sql,
  parent: AccountId | null,
  filter: SubAccountFilter | ParentFilter,
  page: PageQuery,
): PromiseLike<readonly ListedAccount[]> {
  if ('subAccount' in filter) return listParentOf(sql, filter, page);
  if (filter.externalId !== undefined) return listByExternalId(sql, parent, filter.externalId, filter, page);
  if ('plan' in filter) return listOfPlan(sql, filter, page);
  const { limit, after = aboveEveryId } = page;
  // The queries read a range of an index; `aboveEveryId` in `page.ts` explains how. After a restore from a backup, the
  // last account on a client's previous page may be missing; the list then starts over.
  if (parent === null) {
    return sql<ListedAccount[]>`
      select account_shown(a) as account from account a
      where a.parent_id is null and (a.created_at, a.id) < (
          coalesce((select c.created_at from account c where c.id = ${after} and c.parent_id is null), 'infinity'), ${after}
        ) ${narrowed(sql, filter)}
      order by a.created_at desc, a.id desc limit ${limit + 1}`;
  }
  return sql<ListedAccount[]>`
    select account_shown(a) as account from account a
    where a.parent_id >= ${parent} and (a.parent_id, a.created_at, a.id) < (
        ${parent},
        coalesce((select c.created_at from account c where c.id = ${after} and c.parent_id = ${parent}), 'infinity'),
        ${after}
      ) ${narrowed(sql, filter)}
    order by a.parent_id desc, a.created_at desc, a.id desc limit ${limit + 1}`;
}

/** Lists at most one account: the one with the `external_id`. */
function listByExternalId(
  sql: Sql,
  parent: AccountId | null,
  externalId: string,
  filter: SubAccountFilter | ParentFilter,
  { after = aboveEveryId }: PageQuery,
): PromiseLike<readonly ListedAccount[]> {
  return sql<ListedAccount[]>`
    select account_shown(a) as account from account a
    where ${parent === null ? sql`a.parent_id is null` : sql`a.parent_id = ${parent}`} and a.external_id = ${externalId} and a.id < ${after} ${narrowed(sql, filter)}`;
}

/** Lists the parents that have a plan, in the same order as other lists. */
function listOfPlan(
  sql: Sql,
  { plan, ...filter }: ParentFilter,
  { limit, after = aboveEveryId }: PageQuery,
): PromiseLike<readonly ListedAccount[]> {
  const of = plan ?? '';
  return sql<ListedAccount[]>`
    select account_shown(a) as account from account a
    where a.plan >= ${of} and (a.plan, a.created_at, a.id) < (
        ${of} collate "C",
        coalesce((select c.created_at from account c where c.id = ${after} and c.parent_id is null), 'infinity'),
        ${after}
      ) ${narrowed(sql, filter)}
    order by a.plan desc, a.created_at desc, a.id desc limit ${limit + 1}`;
}

function listParentOf(
  sql: Sql,
  { subAccount, externalId, ...filter }: ParentFilter,
  { after = aboveEveryId }: PageQuery,
): PromiseLike<readonly ListedAccount[]> {
  return sql<ListedAccount[]>`
    select account_shown(a) as account from account s join account a on a.id = s.parent_id
    where s.id = ${subAccount ?? null} and a.id < ${after} and s.deleted_at is null ${narrowed(sql, filter)}
      ${externalId === undefined ? sql`` : sql`and a.external_id = ${externalId}`}`;
}

/** Returns the SQL conditions on the account `a`: it has not been deleted, and the filter admits it. */
function narrowed(sql: Sql, filter: SubAccountFilter | ParentFilter) {
  const { status, nameStart, near } = filter;
  const metadata = 'metadata' in filter ? filter.metadata : undefined;
  const plan = 'plan' in filter ? filter.plan : undefined;
  return sql`
    and a.deleted_at is null
    ${status === undefined ? sql`` : sql`and a.status = ${status}`}
    ${nameStart === undefined ? sql`` : sql`and starts_with(lower(a.name), lower(${nameStart}::text))`}
    ${plan === undefined ? sql`` : sql`and a.plan = ${plan}`}
    ${near === undefined ? sql`` : nearQuota(sql, near)}
    ${metadata === undefined ? sql`` : sql`and a.metadata @> ${sql.json(metadata)}`}`;
}

/**
 * Returns the SQL condition that the account `a`, or one of its sub-accounts, has used at least the fraction `near` of
 * a quota.
 */
function nearQuota(sql: Sql, near: number) {
  return sql`and a.id in (
    select unnest(array[q.id, q.parent_id]) from limit_quota u join account q on q.id = split_part(u.limit_name, ':', 2)::uuid
    where u.starts_at = date_trunc(split_part(u.limit_name, ':', 3), now(), 'UTC')
      and u.used >= ${near}::double precision
        * account_quota(q, quota_column(u.limit_name))
  )`;
}
