import type { AccountId } from '../../domain/ids.ts';
import type { AccountPageQuery, Page } from '../../ports/tenant-store.ts';
import { readPage, writePage, type ListName } from './paging.ts';

/**
 * Character at the end of a decoded cursor, for lists sorted by (`created_at`, id). Version 0.1.0 sorted lists by id
 * alone, and its cursors lack this character. After a cursor without the character, the next page is therefore sorted
 * by id. Replicas that run version 0.1.0 accept cursors with the character and ignore it.
 */
const mark = ' ';

/**
 * Reads the paging parameters of a list of accounts.
 *
 * @throws ProblemError `invalid_request` if the cursor is not from this list
 */
export function readAccountPage(
  query: { readonly limit?: number; readonly cursor?: string },
  list: ListName,
): AccountPageQuery {
  const page = readPage(query, list);
  const byId = query.cursor !== undefined && !decoded(query.cursor).endsWith(mark);
  return byId ? { ...page, byId } : page;
}

/** Returns the response body for a page of accounts. @param asked result of {@link readAccountPage} */
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
