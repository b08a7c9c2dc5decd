import type { JSX } from 'preact';
import type { UsageRow } from '../../../../src/generated/client-types.ts';
import { Heading } from '../../ui/heading.tsx';
import { Paged } from '../../ui/paged.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { countColumns, PeriodChoice, queryOf } from '../../ui/usage-over-time.tsx';
import { usePlaces } from '../places.ts';
import { usePortal } from '../session.ts';

/** Requests of each sub-account, and of the parent itself. */
export function AllUsagePage(): JSX.Element {
  const { api, session } = usePortal();
  const columns: readonly Column<UsageRow>[] = [
    { name: 'Name', cell: (row) => <Owner row={row} /> },
    ...countColumns,
  ];
  return (
    <>
      <p class="trail">{session.account.name}</p>
      <Heading title="Usage" />
      <PeriodChoice offered={['day', 'month']}>
        {(period) => (
          <Paged<UsageRow>
            load={(cursor) =>
              api.get('/usage', { from: queryOf(period).from, granularity: 'total', limit: 50, cursor })
            }
            inputs={[period]}
          >
            {(rows) => (
              <Table
                label="Requests by sub-account"
                columns={columns}
                rows={rows}
                keyOf={({ sub_account_id }) => sub_account_id}
                none="There were no requests in this time."
              />
            )}
          </Paged>
        )}
      </PeriodChoice>
    </>
  );
}

function Owner({ row: { sub_account_id: id, name } }: { readonly row: UsageRow }): JSX.Element {
  const { session } = usePortal();
  const places = usePlaces();
  if (id === session.account.id) return <>{session.account.name} itself</>;
  return <a href={places.subAccount(id, 'usage')}>{name ?? id}</a>;
}
