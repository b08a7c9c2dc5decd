import { InvalidArgumentError, type Command } from 'commander';
import type { Listing } from './operator-api.ts';

export interface PageOptions {
  readonly limit: number;
  readonly cursor?: string;
}

/** Adds the options of a list. */
export function pageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'entries to show, 1 to 100', readLimit, 50)
    .option('--cursor <cursor>', 'go on after an earlier list');
}

/** Query of a list. @param filters by the names of the query's parameters; absent ones do not filter */
export function pageQuery(
  { limit, cursor }: PageOptions,
  filters: Readonly<Record<string, string | undefined>> = {},
): string {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries({ ...filters, cursor })) {
    if (value !== undefined) query.set(name, value);
  }
  return `?${query.toString()}`;
}

/** Tells how to see the rest of a list. */
export function moreNote(page: Listing<unknown>): string {
  return page.next_cursor === null ? '' : `\n\nThere are more: --cursor ${page.next_cursor}`;
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw new InvalidArgumentError('It must be a whole number from 1 to 100.');
}
