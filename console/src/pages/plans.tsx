import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Plan } from '../../../src/generated/operator-types.ts';
import { formatCount } from '../format.ts';
import { linkTo } from '../route.ts';
import { useMay, useSession } from '../session.ts';
import { Heading } from '../ui/heading.tsx';
import { Paged } from '../ui/paged.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { DeletePlan } from './changes/delete-plan.tsx';
import { PutPlan } from './changes/put-plan.tsx';

type Open = { readonly kind: 'edit' | 'delete'; readonly plan: Plan } | { readonly kind: 'create' };

/** Plans: named sets of limits that accounts share. */
export function PlansPage(): JSX.Element {
  const { api } = useSession();
  const may = useMay();
  const [round, setRound] = useState(0);
  const [open, setOpen] = useState<Open | null>(null);
  const closed = (hasChanged: boolean): void => {
    setOpen(null);
    if (hasChanged) setRound((last) => last + 1);
  };
  const columns = may('admin') ? [...facts, changesOf(setOpen)] : facts;
  return (
    <>
      <Heading title="Plans">
        {may('admin') && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'create' })}>
            Create a plan
          </button>
        )}
      </Heading>
      <Paged<Plan> load={(cursor) => api.get('/plans', { limit: 50, cursor })} inputs={[round]}>
        {(rows) => (
          <Table
            label="Plans"
            columns={columns}
            rows={rows}
            keyOf={({ name }) => name}
            none="There are no plans. A plan is a set of limits that accounts share."
          />
        )}
      </Paged>
      {open?.kind === 'create' && <PutPlan plan={null} onClose={closed} />}
      {open?.kind === 'edit' && <PutPlan plan={open.plan} onClose={closed} />}
      {open?.kind === 'delete' && <DeletePlan name={open.plan.name} onClose={closed} />}
    </>
  );
}

const facts: readonly Column<Plan>[] = [
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Limits', cell: ({ limits }) => <LimitList {...limits} /> },
  { name: 'Sub-accounts', isNumber: true, cell: ({ max_sub_accounts }) => orConfigured(max_sub_accounts) },
  { name: 'Active keys', isNumber: true, cell: ({ max_api_keys }) => orConfigured(max_api_keys) },
  { name: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
  {
    name: 'Used by',
    cell: ({ name }) => (
      <a href={linkTo(['accounts'], { plan: name })} aria-label={`Accounts with ${name}`}>
        Accounts
      </a>
    ),
  },
];

function changesOf(open: (dialog: Open) => void): Column<Plan> {
  return {
    name: 'Change',
    cell: (plan) => (
      <span class="buttons">
        <button
          type="button"
          class="small"
          aria-label={`Edit ${plan.name}`}
          onClick={() => open({ kind: 'edit', plan })}
        >
          Edit
        </button>
        <button
          type="button"
          class="small danger"
          aria-label={`Delete ${plan.name}`}
          onClick={() => open({ kind: 'delete', plan })}
        >
          Delete
        </button>
      </span>
    ),
  };
}

function orConfigured(most: number | null): string {
  return most === null ? 'as configured' : formatCount(most);
}

/** The limits that a plan has, one a line. */
function LimitList(limits: Plan['limits']): JSX.Element {
  const {
    requests_per_second,
    burst,
    requests_per_minute,
    requests_per_day,
    requests_per_month,
    units_per_month,
  } = limits;
  const lines = [
    [requests_per_second, `requests a second${burst === null ? '' : `, ${formatCount(burst)} at once`}`],
    [requests_per_minute, 'requests a minute'],
    [requests_per_day, 'requests a day'],
    [requests_per_month, 'requests a month'],
    [units_per_month, 'units a month'],
  ] as const;
  const given = lines.filter(([limit]) => limit !== null);
  if (given.length === 0) return <span class="soft">none</span>;
  return (
    <ul class="plain">
      {given.map(([limit, text]) => (
        <li>{`${formatCount(limit ?? 0)} ${text}`}</li>
      ))}
    </ul>
  );
}
