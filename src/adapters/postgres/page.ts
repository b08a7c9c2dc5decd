import type { Page } from '../../ports/tenant-store.ts';

/** A page from rows of which one more than `limit` was asked for: whether it came says whether there are more. */
export function pageOf<Row, T>(rows: readonly Row[], limit: number, make: (row: Row) => T): Page<T> {
  return { rows: rows.slice(0, limit).map(make), hasMore: rows.length > limit };
}
