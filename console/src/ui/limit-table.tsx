import type { JSX } from 'preact';
import type { LimitInForce } from '../../../src/generated/operator-types.ts';
import { formatCount, formatLimit } from '../format.ts';
import { Table, type Column } from './table.tsx';
import { Time } from './time.tsx';

const owners = { api_key: 'key', sub_account: 'sub-account', parent: 'parent' } as const;

const columns: readonly Column<LimitInForce>[] = [
  { name: 'Limit of the', cell: ({ limited }) => owners[limited] },
  { name: 'Limit', cell: ({ limit, ...counted }) => formatLimit(limit, counted) },
  {
    name: 'Used',
    cell: ({ used, limit }) => (
      <span class="meter">
        <meter value={Math.min(used, limit)} max={limit} low={limit * 0.8} high={limit} optimum={0}>
          {used}
        </meter>{' '}
        {formatCount(used)}
      </span>
    ),
  },
  { name: 'Left', isNumber: true, cell: ({ left }) => formatCount(left) },
  { name: 'Full again', cell: ({ resets_at }) => <Time at={resets_at} relative /> },
];

/** Limits with what is left of them. */
export function LimitTable({ rows }: { readonly rows: readonly LimitInForce[] }): JSX.Element {
  return (
    <Table
      label="Limits in force"
      columns={columns}
      rows={rows}
      keyOf={({ limited, per, unit }) => `${limited} ${per} ${unit}`}
      none="Nothing limits its requests."
    />
  );
}
