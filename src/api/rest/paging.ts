import { createHash } from 'node:crypto';
import { Type, type TSchema } from 'typebox';
import { parseAccountId } from '../../domain/ids.ts';
import type { Page } from '../../ports/tenant-store.ts';
import { nullableText } from './typebox.ts';
import { invalidField } from '../../http/invalid-request.ts';

/** Number of rows per page if the client does not send `limit`. */
const defaultLimit = 50;
/** Maximum size in bytes of the rows of a page, which leaves 2 KB for what is around them. */
const mostRowBytes = 126 * 1024;

/** Returns the query parameters of a list. @param most maximum number of rows per page */
export function pageQuery(most = 100) {
  return {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: most, description: 'rows of a page' })),
    cursor: Type.Optional(
      Type.String({ maxLength: 1000, description: '`next_cursor` of the previous page' }),
    ),
  };
}

/** Returns the members of a page whose rows have the schema `row`. */
export function pageOf<Row extends TSchema>(row: Row) {
  return { data: Type.Array(row), has_more: Type.Boolean(), next_cursor: nullableText() };
}

/**
 * Identifies a list and its filters. A cursor is valid only for the list and filters that it came from. With other
 * filters, the cursor would silently skip rows.
 */
export type ListName = readonly (string | undefined)[];

/**
 * Reads the paging parameters of a list.
 *
 * @param isPosition checks a cursor's position, because clients can make up cursors
 * @throws ProblemError `invalid_request` if the cursor is not from this list
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

/**
 * Returns the response body for a page. It has fewer rows than were read if they are more than {@link mostRowBytes}. A
 * row that is larger comes alone.
 *
 * @param positionOf returns a row's position in the list. The cursor contains the position of the page's last row
 */
export function writePage<Row, Body>(
  page: Page<Row>,
  list: ListName,
  positionOf: (row: Row) => string,
  body: (row: Row) => Body,
): { data: Body[]; has_more: boolean; next_cursor: string | null } {
  const data: Body[] = [];
  let bytes = 0;
  for (const row of page.rows) {
    const written = body(row);
    bytes += Buffer.byteLength(JSON.stringify(written)) + 1;
    if (bytes > mostRowBytes && data.length > 0) break;
    data.push(written);
  }
  const last = page.rows[data.length - 1];
  const hasMore = page.hasMore || data.length < page.rows.length;
  return {
    data,
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? cursor(positionOf(last), list) : null,
  };
}

/** Version of the cursor format. Each cursor begins with it. */
const version = 1;

function cursor(position: string, list: ListName): string {
  return Buffer.from(JSON.stringify([version, fingerprint(list), position])).toString('base64url');
}

/**
 * Reads the position from a cursor. Returns `undefined` if the cursor does not have the fingerprint of the list's name.
 * The fingerprint prevents mistakes but not forgery. With a forged cursor, a client merely gets other rows of the same
 * list.
 */
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
