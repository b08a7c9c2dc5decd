import { InvalidArgumentError, type Command } from 'commander';
import type { Context } from './context.ts';
import type { Listing } from './operator-api.ts';

export interface PageOptions {
  readonly limit: number;
  readonly cursor?: string;
  readonly all?: true;
}

/** Adds the options `--limit`, `--cursor` and `--all` to a list command. */
export function pageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'entries to show, 1 to 100', readLimit, 50)
    .option('--cursor <cursor>', 'continue an earlier list')
    .option('--all', 'all entries, over all pages');
}

/**
 * Reads one page of a list or, with `--all`, that page and all following ones.
 *
 * @param filters query parameters that filter the list; those that are `undefined` are left out
 * @throws {Failure}
 */
export async function readList<List extends Listing<unknown>>(
  context: Context,
  path: string,
  { limit, cursor, all }: PageOptions,
  filters: Readonly<Record<string, string | undefined>> = {},
): Promise<List> {
  const api = context.api();
  const query = new URLSearchParams({ limit: String(all ? mostRows : limit) });
  for (const [name, value] of Object.entries({ ...filters, cursor })) {
    if (value !== undefined) query.set(name, value);
  }
  const first = await api.call<List>('GET', `${path}?${query.toString()}`);
  const data = [...first.data];
  let next = first.next_cursor;
  while (all && next !== null) {
    query.set('cursor', next);
    const page = await api.call<List>('GET', `${path}?${query.toString()}`);
    data.push(...page.data);
    next = page.next_cursor;
  }
  return { ...first, data, has_more: next !== null, next_cursor: next };
}

/**
 * Returns the line that is shown below a list. The line says how to get the next page. It is empty on the last page.
 *
 * @param times options `--from …` and `--to …` that the next command must repeat; empty if there are none
 */
export function moreNote(page: Listing<unknown>, times = ''): string {
  return page.next_cursor === null
    ? ''
    : `\n\nThere are more: --all, or ${times}--cursor ${page.next_cursor}`;
}

const mostRows = 100;

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw new InvalidArgumentError('It must be a whole number from 1 to 100.');
}
