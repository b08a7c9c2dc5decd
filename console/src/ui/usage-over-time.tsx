import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Query } from '../api/api-client.ts';
import type { UsageReport, UsageRow } from '../../../src/generated/operator-types.ts';
import { formatCount } from '../format.ts';
import { useLoad } from '../use-load.ts';
import { Chart } from './chart.tsx';
import { Show } from './loaded.tsx';
import { Table, type Column } from './table.tsx';
import { Time } from './time.tsx';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const periods = {
  day: { text: 'last 24 hours', ms: dayMs, granularity: 'hour' },
  week: { text: 'last 7 days', ms: 7 * dayMs, granularity: 'hour' },
  month: { text: 'last 30 days', ms: 30 * dayMs, granularity: 'day' },
  quarter: { text: 'last 90 days', ms: 90 * dayMs, granularity: 'day' },
} as const;

/** Time that a report may be about. */
export type Period = keyof typeof periods;

/** Columns of counts of requests. */
export const countColumns: readonly Column<Counts>[] = [
  { name: 'Requests', isNumber: true, cell: ({ requests }) => formatCount(requests) },
  { name: 'Reads', isNumber: true, cell: ({ reads }) => formatCount(reads) },
  { name: 'Writes', isNumber: true, cell: ({ writes }) => formatCount(writes) },
  { name: '4xx', isNumber: true, cell: ({ client_errors }) => formatCount(client_errors) },
  { name: '5xx', isNumber: true, cell: ({ server_errors }) => formatCount(server_errors) },
];

const columns: readonly Column<Sums>[] = [
  { name: 'From', cell: ({ period_start }) => <Time at={period_start} /> },
  ...countColumns,
];

type Counts = Pick<UsageRow, 'requests' | 'reads' | 'writes' | 'client_errors' | 'server_errors'>;
type Sums = Counts & Pick<UsageRow, 'period_start'>;
/** What the page needs of a report. */
type Report = Pick<UsageReport, 'complete_through' | 'incomplete'> & { readonly data: readonly Sums[] };

/** Beginning of a period, rounded to its hours or days, and the parameters of its report. */
export function queryOf(period: Period): { readonly from: string; readonly granularity: 'hour' | 'day' } {
  const { ms, granularity } = periods[period];
  const stepMs = granularity === 'hour' ? hourMs : dayMs;
  const fromMs = Math.floor((Date.now() - ms) / stepMs) * stepMs + stepMs;
  return { from: new Date(fromMs).toISOString(), granularity };
}

interface PeriodChoiceProps {
  readonly offered: readonly Period[];
  readonly children: (period: Period) => ComponentChildren;
}

/** Shows something about the period that a person chooses. */
export function PeriodChoice({ offered, children }: PeriodChoiceProps): JSX.Element {
  const [period, setPeriod] = useState<Period>('day');
  return (
    <>
      <form class="filters">
        <label>
          Time
          <select value={period} onChange={(event) => setPeriod(event.currentTarget.value as Period)}>
            {offered.map((name) => (
              <option value={name}>{periods[name].text}</option>
            ))}
          </select>
        </label>
      </form>
      {children(period)}
    </>
  );
}

interface UsageOverTimeProps {
  readonly period: Period;
  /** Reads a report with one row a period. */
  readonly read: (query: Query) => Promise<Report>;
  /** The report is read anew when these change. */
  readonly inputs: readonly unknown[];
}

/** Requests over time, as a chart and as a table. */
export function UsageOverTime({ period, read, inputs }: UsageOverTimeProps): JSX.Element {
  const usage = useLoad(() => usageOver(read, period), [period, ...inputs], 60_000);
  return (
    <Show of={usage}>
      {({ rows, completeThrough, incomplete }) => (
        <>
          <Chart
            label={`Requests, ${periods[period].text}`}
            times={rows.map(({ period_start }) => Date.parse(period_start) / 1_000)}
            series={[
              { name: 'Requests', color: 'accent', values: rows.map(({ requests }) => requests) },
              { name: '4xx', color: 'warn', values: rows.map(({ client_errors }) => client_errors) },
              { name: '5xx', color: 'bad', values: rows.map(({ server_errors }) => server_errors) },
            ]}
          />
          <p class="soft">
            Complete through <Time at={completeThrough} />
            {incomplete && '; counts of a lost replica may be missing'}.
          </p>
          <details>
            <summary>As a table</summary>
            <Table
              label="Requests over time"
              columns={columns}
              rows={rows.filter(({ requests }) => requests > 0).reverse()}
              keyOf={({ period_start }) => period_start}
              none="There were no requests in this time."
            />
          </details>
        </>
      )}
    </Show>
  );
}

/** Reads the requests in each hour or day up to now. The report has one row a period; periods without one are empty. */
async function usageOver(read: UsageOverTimeProps['read'], period: Period) {
  const query = queryOf(period);
  const stepMs = query.granularity === 'hour' ? hourMs : dayMs;
  const { data, complete_through, incomplete } = await read({ ...query, limit: 1000 });
  const found = new Map(data.map((row) => [Date.parse(row.period_start), row]));
  const rows: Sums[] = [];
  for (let at = Date.parse(query.from); at <= Date.now(); at += stepMs)
    rows.push(found.get(at) ?? nothing(at));
  return { rows, completeThrough: complete_through, incomplete };
}

function nothing(atMs: number): Sums {
  const period_start = new Date(atMs).toISOString();
  return { period_start, requests: 0, reads: 0, writes: 0, client_errors: 0, server_errors: 0 };
}
