import type { Page } from '../../ports/tenant-store.ts';

/**
 * Makes a page from at most `limit + 1` rows. A row beyond the limit only shows that there are more, so it is left out.
 */
export function pageOf<Row, T>(rows: readonly Row[], limit: number, make: (row: Row) => T): Page<T> {
  return { rows: rows.slice(0, limit).map(make), hasMore: rows.length > limit };
}

/**
 * Id at which the first page of a descending list starts: the highest UUID, which no account or key can have.
 *
 * Page queries compare and sort by the pair (owner, id), so that PostgreSQL reads a range of one index. If they
 * compared owner and id separately (`owner = … and id < … order by id desc`), PostgreSQL might scan the primary key's
 * index when the owner has a large share of the table. It would then skip the newer rows of all other owners one by
 * one.
 */
export const aboveEveryId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Id at which the first page of an ascending list starts: the lowest UUID. */
export const belowEveryId = '00000000-0000-0000-0000-000000000000';
