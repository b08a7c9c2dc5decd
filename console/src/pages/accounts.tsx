import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiProblem } from '../api/problem.ts';
import type { Page } from '../api/api-client.ts';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Account } from '../../../src/generated/operator-types.ts';
import { textOf } from '../form.ts';
import { formatCount } from '../format.ts';
import { goTo, linkTo } from '../route.ts';
import { useMay, useSession } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Heading } from '../ui/heading.tsx';
import { Paged } from '../ui/paged.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useDialog } from '../use-dialog.ts';
import { CreateAccount } from './changes/create-account.tsx';

const columns: readonly Column<Account>[] = [
  { name: 'Name', cell: ({ id, name }) => <a href={linkTo(['accounts', id])}>{name}</a> },
  { name: 'External id', cell: ({ external_id }) => external_id ?? '–' },
  { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { name: 'Plan', cell: ({ plan }) => plan ?? '–' },
  {
    name: 'Active sub-accounts',
    isNumber: true,
    cell: ({ active_sub_accounts }) => formatCount(active_sub_accounts),
  },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Search for parent accounts, by name, id and external id, also by the id of a sub-account. */
export function AccountsPage({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const { api } = useSession();
  const may = useMay();
  const [round, setRound] = useState(0);
  const { name, show, closed } = useDialog<'create'>(() => setRound((last) => last + 1));
  const search = query.get('q') ?? '';
  const status = query.get('status') ?? '';
  const near = query.get('near') ?? '';
  const plan = query.get('plan') ?? '';
  const isFiltered = search + status + near + plan !== '';
  return (
    <>
      <Heading title="Accounts">
        {may('admin') && (
          <button type="button" class="primary" onClick={() => show('create')}>
            Create an account
          </button>
        )}
      </Heading>
      <AccountFilters search={search} status={status} near={near} plan={plan} />
      <Paged
        load={(cursor) => accountsLike(api, search, { status, near, plan, cursor })}
        inputs={[search, status, near, plan, round]}
      >
        {(rows) => (
          <Table
            label="Accounts"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            none={isFiltered ? 'No account matches.' : 'There are no accounts yet.'}
          />
        )}
      </Paged>
      {name === 'create' && <CreateAccount onClose={closed} />}
    </>
  );
}

interface FiltersProps {
  readonly search: string;
  readonly status: string;
  readonly near: string;
  readonly plan: string;
}

/** The controls of the search. The address keeps what they say. */
function AccountFilters({ search, status, near, plan }: FiltersProps): JSX.Element {
  const to = (changes: Readonly<Record<string, string>>): void =>
    goTo(linkTo(['accounts'], { q: search, status, near, plan, ...changes }), false);
  return (
    <form
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        to({ q: textOf(new FormData(event.currentTarget), 'q') ?? '' });
      }}
    >
      <label>
        Name, id or external id
        <input key={search} name="q" type="search" defaultValue={search} placeholder="Ada Logistics" />
      </label>
      <label>
        Status
        <select value={status} onChange={(event) => to({ status: event.currentTarget.value })}>
          <option value="">any</option>
          <option>active</option>
          <option>suspended</option>
        </select>
      </label>
      <label>
        Quota
        <select value={near} onChange={(event) => to({ near: event.currentTarget.value })}>
          <option value="">any</option>
          <option value="0.8">80 % used or more</option>
          <option value="1">used up</option>
        </select>
      </label>
      {plan !== '' && (
        <label>
          Plan
          <select value={plan} onChange={(event) => to({ plan: event.currentTarget.value })}>
            <option value="">any</option>
            <option>{plan}</option>
          </select>
        </label>
      )}
      <button type="submit">Search</button>
    </form>
  );
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** What an external id may be: visible ASCII without a comma. */
const externalId = /^[!-+\--~]{1,255}$/;

interface Filters {
  readonly status: string;
  readonly near: string;
  readonly plan: string;
  readonly cursor: string | undefined;
}

/** Finds accounts whose name begins with a text, or with the text as an id; a sub-account's id finds its parent. */
async function accountsLike(api: OperatorApi, text: string, filters: Filters): Promise<Page<Account>> {
  const list = (by: object): Promise<Page<Account>> => api.get('/accounts', { ...filters, limit: 50, ...by });
  if (text === '') return list({});
  const named = await list({ q: text });
  if (filters.cursor !== undefined) return named;
  // Ids are exact, so their accounts come first.
  const exact = [
    ...(uuid.test(text)
      ? [...(await withId(api, text)), ...(await list({ sub_account_id: text })).data]
      : []),
    ...(externalId.test(text) ? (await list({ external_id: text })).data : []),
  ];
  const all = new Map([...exact, ...named.data].map((account) => [account.id, account]));
  return { ...named, data: [...all.values()] };
}

/** The account with an id, whatever the filters say; none if there is no such account. */
async function withId(api: OperatorApi, id: string): Promise<readonly Account[]> {
  try {
    return [await api.get<Account>(`/accounts/${id}`)];
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return [];
    throw error;
  }
}
