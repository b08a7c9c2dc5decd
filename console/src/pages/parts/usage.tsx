import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OperatorApi } from '../../api/operator-api.ts';
import type { UsageReport, UsageRow } from '../../../../src/api/reference/documents/operator-types.ts';
import { formatCount } from '../../format.ts';
import { useSession } from '../../session.ts';
import { Chart } from '../../ui/chart.tsx';
import { Show } from '../../ui/loaded.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useLoad } from '../../use-load.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const periods = {
  day: { text: 'last 24 hours', ms: dayMs, granularity: 'hour' },
  week: { text: 'last 7 days', ms: 7 * dayMs, granularity: 'hour' },
  quarter: { text: 'last 90 days', ms: 90 * dayMs, granularity: 'day' },
} as const;

type Period = keyof typeof periods;

const columns: readonly Column<Sums>[] = [
  { name: 'From', cell: ({ period_start }) => <Time at={period_start} /> },
  { name: 'Requests', isNumber: true, cell: ({ requests }) => formatCount(requests) },
  { name: 'Reads', isNumber: true, cell: ({ reads }) => formatCount(reads) },
  { name: 'Writes', isNumber: true, cell: ({ writes }) => formatCount(writes) },
  { name: '4xx', isNumber: true, cell: ({ client_errors }) => formatCount(client_errors) },
  { name: '5xx', isNumber: true, cell: ({ server_errors }) => formatCount(server_errors) },
];

type Sums = Pick<
  UsageRow,
  'period_start' | 'requests' | 'reads' | 'writes' | 'client_errors' | 'server_errors'
>;

interface UsagePartProps {
  readonly accountId: string;
  readonly subAccountId?: string;
}

/** Requests of an account over time, as a chart and as a table. */
export function UsagePart({ accountId, subAccountId }: UsagePartProps): JSX.Element {
  const { api } = useSession();
  const [period, setPeriod] = useState<Period>('day');
  const usage = useLoad(
    () => usageOver(api, periods[period], { account_id: accountId, sub_account_id: subAccountId }),
    [period, accountId, subAccountId],
    60_000,
  );
  return (
    <>
      <form class="filters">
        <label>
          Time
          <select value={period} onChange={(event) => setPeriod(event.currentTarget.value as Period)}>
            {Object.entries(periods).map(([name, { text }]) => (
              <option value={name}>{text}</option>
            ))}
          </select>
        </label>
      </form>
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
    </>
  );
}

interface Of {
  readonly account_id: string;
  readonly sub_account_id: string | undefined;
}

/** Reads the requests in each hour or day up to now. The report has one row a period; periods without one are empty. */
async function usageOver(api: OperatorApi, { ms, granularity }: (typeof periods)[Period], of: Of) {
  const stepMs = granularity === 'hour' ? hourMs : dayMs;
  const nowMs = Date.now();
  const fromMs = Math.floor((nowMs - ms) / stepMs) * stepMs + stepMs;
  const group_by = of.sub_account_id === undefined ? 'account' : 'sub_account';
  const query = { ...of, from: new Date(fromMs).toISOString(), granularity, group_by, limit: 1000 };
  const { data, complete_through, incomplete } = await api.get<UsageReport>('/usage', query);
  const found = new Map(data.map((row) => [Date.parse(row.period_start), row]));
  const rows: Sums[] = [];
  for (let at = fromMs; at <= nowMs; at += stepMs) rows.push(found.get(at) ?? nothing(at));
  return { rows, completeThrough: complete_through, incomplete };
}

function nothing(atMs: number): Sums {
  const period_start = new Date(atMs).toISOString();
  return { period_start, requests: 0, reads: 0, writes: 0, client_errors: 0, server_errors: 0 };
}
