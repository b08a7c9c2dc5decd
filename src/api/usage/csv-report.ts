import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseInstant } from '../../domain/rfc3339.ts';
import { hourMs, type UsageGroup } from '../../domain/usage.ts';
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

/** Number of lines read from the store at a time. */
const linesOfPage = 1_000;

/**
 * Fault reported if a period does not start and end on the hour. A JSON report rounds the times and shows the rounded
 * period. A CSV report cannot show the period. If its times were rounded, two consecutive reports could contain the
 * same hour unnoticed.
 */
const withinHour =
  'must be on the hour, UTC: usage is kept by the hour, and CSV does not say what was rounded.';

/** Columns of a CSV report, and a function that converts a row of usage to a line of the report. */
export interface CsvForm<Group extends UsageGroup> {
  /** Members of a row, in order. `api_key_id` is dropped unless the report is grouped by key. */
  readonly columns: readonly string[];
  readonly rowToBody: RowToBody<Group, Readonly<Record<string, Cell>>>;
  /** Called before each page after the first. Rejects if the caller has lost access to the report. */
  readonly mayGoOn?: () => Promise<void>;
}

/** Whether the client prefers CSV. Also sets `Vary: Accept`. */
export function wantsCsv({ headers }: FastifyRequest, reply: FastifyReply): boolean {
  void reply.header('vary', 'Accept');
  return prefersCsv(headers.accept);
}

/**
 * Sends all lines of a report as CSV. A page is read from the store only when the client has taken earlier lines. A
 * slow client therefore holds no connection to the store, and at most two pages are in memory. Each page starts after
 * the id and time of the previous line. The id and time of a line never change, so each line appears once. The counts
 * in a line are those at the time when its page was read.
 *
 * The connection is aborted if a page cannot be read, or if the client stops reading for a minute. The client can then
 * tell that the report is not complete.
 *
 * @throws as {@link wantedReport}; ProblemError `invalid_request` if `limit` or `cursor` was sent, or if the period
 * does not start and end on the hour; any error from the first page
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
  for (const name of ['from', 'to'] as const)
    if ((parseInstant(query[name] ?? '') ?? 0) % hourMs !== 0) throw invalidField(`?${name}`, withinHour);
  const wanted = await wantedReport(source, parent, query);
  const groupBy = query.group_by ?? 'sub_account';
  const names = groupBy === 'api_key' ? columns : columns.filter((name) => name !== 'api_key_id');
  const readPage = (after?: string): Promise<Page<UsageReportRow>> =>
    readKept(source, parent, pageQueryOf(wanted, after));
  const first = await readPage();
  void reply
    .type('text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="${fileName(wanted)}"`);
  // The response to a HEAD has no body, so no lines are sent.
  if (request.method === 'HEAD') return reply.send('') as never;

  async function* lines(): AsyncGenerator<string> {
    let page = first;
    let text = csvLine(names);
    for (;;) {
      for (const row of page.rows) {
        const body = rowToBody(row, groupBy);
        text += csvLine(names.map((name) => body[name] ?? null));
      }
      yield text;
      text = '';
      const last = page.rows.at(-1);
      if (!page.hasMore || last === undefined) return;
      await mayGoOn?.();
      page = await readPage(last.position);
    }
  }
  // The cast is necessary because the route declares only the type of its JSON response.
  return reply.send(Readable.from(lines(), { objectMode: false })) as never;
}

function pageQueryOf(wanted: Omit<UsageQuery, 'limit' | 'after'>, after: string | undefined): UsageQuery {
  return { ...wanted, limit: linesOfPage, ...(after !== undefined && { after }) };
}

/** Returns the name of the file, such as `usage-2026-01-01-2026-02-01.csv`. */
function fileName({ period }: Pick<UsageQuery, 'period'>): string {
  const [from, to] = [period.fromMs, period.toMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
  return `usage-${from}-${to}.csv`;
}
