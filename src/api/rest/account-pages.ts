import type { AccountId } from '../../domain/ids.ts';
import type { AccountPageQuery, Page } from '../../ports/tenant-store.ts';
import { readPage, writePage, type ListName } from './pages.ts';

/**
 * Cursors of lists of accounts. They hold the id of the last row, as those of 0.1.0 do. Lists went by id alone there and go by
 * (`created_at`, id) here, so a cursor of this version ends in a space: replicas of 0.1.0 read over it, and find the id that
 * they understand. A cursor without it came from 0.1.0, and its list goes on by id.
 */
const mark = ' ';

/**
 * Reads paging parameters of a list of accounts.
 *
 * @throws ProblemError `invalid_request` where the cursor is not one of this list
 */
export function readAccountPage(
  query: { readonly limit?: number; readonly cursor?: string },
  list: ListName,
): AccountPageQuery {
  const page = readPage(query, list);
  const byId = query.cursor !== undefined && !decoded(query.cursor).endsWith(mark);
  return byId ? { ...page, byId } : page;
}

/** Writes a page of accounts. @param asked what {@link readAccountPage} gave for it */
export function writeAccountPage<Row extends { readonly id: AccountId }, Body>(
  page: Page<Row>,
  list: ListName,
  asked: AccountPageQuery,
  body: (row: Row) => Body,
): { data: Body[]; has_more: boolean; next_cursor: string | null } {
  const written = writePage(page, list, ({ id }) => id, body);
  const { next_cursor: cursor } = written;
  if (cursor === null || asked.byId) return written;
  return { ...written, next_cursor: Buffer.from(decoded(cursor) + mark).toString('base64url') };
}

function decoded(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString();
}
