import type { JSX } from 'preact';
import type { SubAccount } from '../../../../src/generated/client-types.ts';
import { textOf } from '../../form.ts';
import { goTo, linkTo } from '../../route.ts';
import { Badge } from '../../ui/badge.tsx';
import { Field } from '../../ui/field.tsx';
import { Heading } from '../../ui/heading.tsx';
import { Paged } from '../../ui/paged.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMay, usePortal } from '../session.ts';

/** A sub-account as the portal shows it. */
export type ShownSubAccount = Pick<SubAccount, 'id' | 'name' | 'external_id' | 'status' | 'created_at'>;

const columns: readonly Column<ShownSubAccount>[] = [
  { name: 'Name', cell: ({ id, name }) => <a href={linkTo(['sub-accounts', id])}>{name}</a> },
  { name: 'External id', cell: ({ external_id }) => external_id ?? '–' },
  { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The first page of a session that sees all sub-accounts: a list, or a question for an id if it may not list them. */
export function SubAccountsPage({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const { session } = usePortal();
  const may = useMay();
  return (
    <>
      <p class="trail">{session.account.name}</p>
      <Heading title="Sub-accounts" />
      {may('sub_accounts:read') ? <SubAccountList search={query.get('q') ?? ''} /> : <OpenById />}
    </>
  );
}

function SubAccountList({ search }: { readonly search: string }): JSX.Element {
  const { api } = usePortal();
  return (
    <>
      <Search search={search} />
      <Paged<ShownSubAccount>
        load={(cursor) => api.get('/sub-accounts', { q: search, limit: 50, cursor })}
        inputs={[search]}
      >
        {(rows) => (
          <Table
            label="Sub-accounts"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            none={search === '' ? 'There are no sub-accounts yet.' : 'No name begins like this.'}
          />
        )}
      </Paged>
    </>
  );
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Finds names by their beginning, and opens a sub-account by its id. The address keeps the search. */
function Search({ search }: { readonly search: string }): JSX.Element {
  const submit = (event: Event): void => {
    event.preventDefault();
    const text = textOf(new FormData(event.currentTarget as HTMLFormElement), 'q') ?? '';
    if (uuid.test(text)) goTo(linkTo(['sub-accounts', text]));
    else goTo(linkTo(['sub-accounts'], { q: text }), false);
  };
  return (
    <form class="filters" role="search" onSubmit={submit}>
      <label>
        Beginning of the name, or id
        <input key={search} name="q" type="search" defaultValue={search} />
      </label>
      <button type="submit">Search</button>
    </form>
  );
}

function OpenById(): JSX.Element {
  const submit = (event: Event): void => {
    event.preventDefault();
    const id = textOf(new FormData(event.currentTarget as HTMLFormElement), 'id');
    if (id !== null) goTo(linkTo(['sub-accounts', id]));
  };
  return (
    <form class="find" onSubmit={submit}>
      <Field
        label="Id of the sub-account"
        hint="You may not list sub-accounts, but open one whose id you know. It looks like 0199c3a4-7b1e-7c52-9d0f-3e8a6b2f4c11."
      >
        {(ids) => <input {...ids} name="id" required autoComplete="off" spellcheck={false} />}
      </Field>
      <button type="submit" class="primary">
        Open
      </button>
    </form>
  );
}
