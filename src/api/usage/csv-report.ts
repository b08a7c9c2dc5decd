import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { UsageGroup } from '../../domain/usage.ts';
import { invalidField } from '../../http/invalid-request.ts';
import type { Page } from '../../ports/tenant-store.ts';
import type { UsageQuery, UsageReportRow } from '../../ports/usage.ts';
import { prefersCsv } from '../rest/accept.ts';
import { csvLine, type Cell } from './csv.ts';
import {
  readKept,
  wantedReport,
  type ReportQuery,
  type ReportScope,
  type ReportSource,
  type RowToBody,
} from './read-report.ts';

/** Lines that are read, and in memory, at once. */
const linesOfPage = 1_000;
/** Milliseconds that a client may take for these lines. */
const stalledMs = 60_000;

/** How lines are made. */
export interface CsvForm<Group extends UsageGroup> {
  /** Names of the members of a row, in their order; `api_key_id` is left out where rows are not by key. */
  readonly columns: readonly string[];
  readonly rowToBody: RowToBody<Group, Readonly<Record<string, Cell>>>;
  /** Asked before each page after the first; rejects once the caller has lost the right to the rest. */
  readonly mayGoOn?: () => Promise<void>;
}

/** Whether a report is asked for as CSV; says that its form depends on that. */
export function wantsCsv({ headers }: FastifyRequest, reply: FastifyReply): boolean {
  void reply.header('vary', 'Accept');
  return prefersCsv(headers.accept);
}

/**
 * Sends all lines of a report as CSV. They are read page by page while the client takes them: between two pages it holds nothing
 * of the store, however slow it is, and no more than two pages are in memory. Each line is what was counted when it was read, and is
 * there once: pages are told apart by ids and times, which do not change.
 *
 * Where a page cannot be read, or the client takes nothing for a minute, the connection is aborted: what came does not look whole.
 *
 * @throws as {@link wantedReport}, and whatever reading the first page throws
 */
export async function sendCsv<Group extends UsageGroup>(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  source: ReportSource,
  { parent }: ReportScope,
  query: ReportQuery<Group | 'sub_account'>,
  { columns, rowToBody, mayGoOn }: CsvForm<Group>,
): Promise<never> {
  for (const name of ['limit', 'cursor'] as const)
    if (query[name] !== undefined)
      throw invalidField(`?${name}`, 'is for pages of JSON; CSV has all rows of the period.');
  const wanted = await wantedReport(source, parent, query);
  const groupBy = query.group_by ?? 'sub_account';
  const names = groupBy === 'api_key' ? columns : columns.filter((name) => name !== 'api_key_id');
  const readPage = (after?: string): Promise<Page<UsageReportRow>> =>
    readKept(source, parent, pageQueryOf(wanted, after));
  const first = await readPage();
  void reply
    .type('text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="${fileName(wanted)}"`);
  // Its response has no body, so none is made.
  if (request.method === 'HEAD') return reply.send('') as never;

  async function* lines(): AsyncGenerator<string> {
    let page = first;
    let text = csvLine(names);
    for (;;) {
      for (const row of page.rows) {
        const body = rowToBody(row, groupBy);
        text += csvLine(names.map((name) => body[name] ?? null));
      }
      const stalled = setTimeout(() => stream.destroy(new Error('the client takes nothing')), stalledMs);
      try {
        yield text;
      } finally {
        clearTimeout(stalled);
      }
      text = '';
      const last = page.rows.at(-1);
      if (!page.hasMore || last === undefined) return;
      await mayGoOn?.();
      page = await readPage(last.position);
    }
  }
  const stream = Readable.from(lines(), { objectMode: false });
  // What is typed is the JSON.
  return reply.send(stream) as never;
}

function pageQueryOf(wanted: Omit<UsageQuery, 'limit' | 'after'>, after: string | undefined): UsageQuery {
  return { ...wanted, limit: linesOfPage, ...(after !== undefined && { after }) };
}

/** Such as `usage-2026-01-01-2026-02-01.csv`. */
function fileName({ period }: Pick<UsageQuery, 'period'>): string {
  const [from, to] = [period.fromMs, period.toMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
  return `usage-${from}-${to}.csv`;
}
