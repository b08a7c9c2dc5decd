import type { Page } from '../../ports/tenant-store.ts';

/** A page from rows of which one more than `limit` was asked for: that row, if it came, says that there are more. */
export function pageOf<Row, T>(rows: readonly Row[], limit: number, make: (row: Row) => T): Page<T> {
  return { rows: rows.slice(0, limit).map(make), hasMore: rows.length > limit };
}

/**
 * Where the first page starts: the last of all UUIDs, which no account or key can have.
 *
 * Pages are spelled as ranges of an index, from (owner, id) downwards and in that order. Said the usual way, `owner = …
 * and id < … order by id desc`, PostgreSQL may read along the primary key when one owner has much of the table, and skip
 * the newer rows of all other owners one by one until it comes to this owner's.
 */
export const aboveEveryId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
