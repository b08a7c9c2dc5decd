import type { Page } from '../../ports/tenant-store.ts';

/**
 * Makes a page from up to `limit + 1` rows. The row after the first `limit` is left out: it only shows that there are
 * more.
 */
export function pageOf<Row, T>(rows: readonly Row[], limit: number, make: (row: Row) => T): Page<T> {
  return { rows: rows.slice(0, limit).map(make), hasMore: rows.length > limit };
}

/**
 * Id at which the first page of a descending list starts: the highest UUID, which no account or key can have.
 *
 * A query for a page reads a range of an index, from (owner, id) downwards and in that order. With the usual form,
 * `owner = … and id < … order by id desc`, PostgreSQL may read the primary key's index if the owner has a large part
 * of the table. It would then skip the newer rows of all other owners one by one until it reaches the owner's rows.
 */
export const aboveEveryId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Id at which the first page of an ascending list starts: the lowest UUID. */
export const belowEveryId = '00000000-0000-0000-0000-000000000000';
