import { createHash } from 'node:crypto';
import { Type, type TSchema } from 'typebox';
import { parseAccountId } from '../../domain/ids.ts';
import type { Page } from '../../ports/tenant-store.ts';
import { nullableText } from './typebox.ts';
import { invalidField } from '../../http/invalid-request.ts';

/** Rows of a page unless the client says otherwise. */
const defaultLimit = 50;

/** The query parameters every list has. @param most the largest page there is */
export function pageQuery(most = 100) {
  return {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: most, description: 'rows of a page' })),
    cursor: Type.Optional(Type.String({ maxLength: 1000, description: '`next_cursor` of the page before' })),
  };
}

/** The response of a list of `row`. */
export function pageOf<Row extends TSchema>(row: Row) {
  return { data: Type.Array(row), has_more: Type.Boolean(), next_cursor: nullableText() };
}

/**
 * Names a list together with its filters. A cursor is good for the list it came from alone: followed with other
 * filters it would skip rows silently.
 */
export type ListName = readonly (string | undefined)[];

/**
 * Reads paging parameters.
 *
 * @param isPosition what a position of this list looks like: a client may have made the cursor up
 * @throws ProblemError `invalid_request` where the cursor is not one of this list
 */
export function readPage(
  query: { readonly limit?: number; readonly cursor?: string },
  list: ListName,
  isPosition: (text: string) => boolean = isId,
): { readonly limit: number; readonly after?: string } {
  const limit = query.limit ?? defaultLimit;
  if (query.cursor === undefined) return { limit };
  const after = positionOf(query.cursor, list);
  if (after === undefined || !isPosition(after)) throw invalidCursor();
  return { limit, after };
}

function isId(text: string): boolean {
  return parseAccountId(text) !== undefined;
}

function invalidCursor(): Error {
  return invalidField('?cursor', 'is not a cursor of this list with these filters.');
}

/** Writes a page. @param positionOf what {@link readPage} is to give back for the page after the one that ends with this row */
export function writePage<Row, Body>(
  page: Page<Row>,
  list: ListName,
  positionOf: (row: Row) => string,
  body: (row: Row) => Body,
): { data: Body[]; has_more: boolean; next_cursor: string | null } {
  const last = page.rows.at(-1);
  return {
    data: page.rows.map(body),
    has_more: page.hasMore,
    next_cursor: page.hasMore && last !== undefined ? cursor(positionOf(last), list) : null,
  };
}

/** First member of every cursor, for the day their contents change. */
const version = 1;

function cursor(position: string, list: ListName): string {
  return Buffer.from(JSON.stringify([version, fingerprint(list), position])).toString('base64url');
}

/** The fingerprint guards against mistakes, not malice: a made-up position only moves about in the caller's own list. */
function positionOf(text: string, list: ListName): string | undefined {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(content) || content.length !== 3) return undefined;
  const [itsVersion, itsList, position] = content as unknown[];
  return itsVersion === version && itsList === fingerprint(list) && typeof position === 'string'
    ? position
    : undefined;
}

function fingerprint(list: ListName): string {
  return createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, 12);
}
