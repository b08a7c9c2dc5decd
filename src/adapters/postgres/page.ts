import type { Page } from '../../ports/tenant-store.ts';

/** Page from up to `limit + 1` rows: the last row, if it came, only says that there are more. */
export function pageOf<Row, T>(rows: readonly Row[], limit: number, make: (row: Row) => T): Page<T> {
  return { rows: rows.slice(0, limit).map(make), hasMore: rows.length > limit };
}

/**
 * Start of the first page: the last of all UUIDs, which no account or key can have.
 *
 * Pages are written as ranges of an index, from (owner, id) downwards and in that order. With the usual form, `owner =
 * … and id < … order by id desc`, PostgreSQL may read along the primary key if one owner has much of the table, and
 * skip the newer rows of all other owners one by one until it comes to this owner's.
 */
export const aboveEveryId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Start of the first page of a list in ascending order. */
export const belowEveryId = '00000000-0000-0000-0000-000000000000';
