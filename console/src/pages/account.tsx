import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Account, SubAccount } from '../../../src/api/reference/documents/operator-types.ts';
import { textOf } from '../form.ts';
import { linkTo } from '../route.ts';
import { useMay, useSession } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Copy } from '../ui/copy.tsx';
import { Show } from '../ui/loaded.tsx';
import { Paged } from '../ui/paged.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Time } from '../ui/time.tsx';
import { useLoad } from '../use-load.ts';
import { CreateSubAccount } from './changes/create-sub-account.tsx';
import { EditAccount } from './changes/edit-account.tsx';
import { MintKey } from './changes/mint-key.tsx';
import { AccountStatusChange } from './changes/status-change.tsx';
import { EventsPart } from './parts/events.tsx';
import { KeysPart } from './parts/keys.tsx';
import { LimitsPart } from './parts/limits.tsx';
import { UsagePart } from './parts/usage.tsx';

type Asked = 'edit' | 'status' | 'mint' | 'create' | null;

const tabs = [
  ['sub-accounts', 'Sub-accounts'],
  ['keys', 'Keys'],
  ['usage', 'Usage'],
  ['limits', 'Limits'],
  ['events', 'Events'],
] as const;

interface AccountPageProps {
  readonly id: string;
  readonly query: URLSearchParams;
}

/** A parent account with everything below it. */
export function AccountPage({ id, query }: AccountPageProps): JSX.Element {
  const { api } = useSession();
  const account = useLoad(() => api.get<Account>(`/accounts/${encodeURIComponent(id)}`), [id]);
  const [round, setRound] = useState(0);
  const changed = (): void => {
    account.reload();
    setRound((last) => last + 1);
  };
  const tab = query.get('tab') ?? 'sub-accounts';
  return (
    <Show of={account} heading="Account">
      {(shown) => (
        <>
          <p class="trail">
            <a href={linkTo(['accounts'])}>Accounts</a>
          </p>
          <AccountHeading account={shown} onChanged={changed} />
          <Tabs
            label="Account"
            tabs={tabs}
            current={tab}
            linkOf={(to) => linkTo(['accounts', id], { tab: to })}
          />
          <div key={round}>
            {tab === 'sub-accounts' && <SubAccounts parentId={id} />}
            {tab === 'keys' && <KeysPart accountId={id} />}
            {tab === 'usage' && <UsagePart accountId={id} />}
            {tab === 'limits' && <LimitsPart accountId={id} />}
            {tab === 'events' && <EventsPart query={{ account_id: id }} />}
          </div>
        </>
      )}
    </Show>
  );
}

interface HeadingProps {
  readonly account: Account;
  readonly onChanged: () => void;
}

function AccountHeading({ account, onChanged }: HeadingProps): JSX.Element {
  const may = useMay();
  const [asked, setAsked] = useState<Asked>(null);
  const close = (): void => {
    setAsked(null);
    onChanged();
  };
  return (
    <>
      <div class="heading">
        <h1>
          {account.name} <Badge state={account.status} />
        </h1>
        <div class="buttons">
          {may('admin') && (
            <>
              <button type="button" onClick={() => setAsked('mint')}>
                Mint a key
              </button>
              <button type="button" onClick={() => setAsked('create')}>
                Create a sub-account
              </button>
              <button type="button" onClick={() => setAsked('edit')}>
                Edit
              </button>
            </>
          )}
          {may('support') && (
            <button
              type="button"
              class={account.status === 'active' ? 'danger' : undefined}
              onClick={() => setAsked('status')}
            >
              {account.status === 'active' ? 'Suspend' : 'Resume'}
            </button>
          )}
        </div>
      </div>
      <AccountFacts account={account} />
      {asked === 'edit' && <EditAccount account={account} onClose={close} />}
      {asked === 'status' && <AccountStatusChange account={account} onClose={close} />}
      {asked === 'mint' && <MintKey accountId={account.id} onClose={close} />}
      {asked === 'create' && <CreateSubAccount parentId={account.id} onClose={close} />}
    </>
  );
}

function AccountFacts({ account }: { readonly account: Account }): JSX.Element {
  return (
    <dl class="facts">
      <dt>Id</dt>
      <dd>
        <Copy text={account.id} what="the id" />
      </dd>
      <dt>External id</dt>
      <dd>{account.external_id ?? '–'}</dd>
      <dt>Plan</dt>
      <dd>{account.plan ?? '–'}</dd>
      <dt>Created</dt>
      <dd>
        <Time at={account.created_at} />
      </dd>
      {Object.entries(account.metadata).map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

function SubAccounts({ parentId }: { readonly parentId: string }): JSX.Element {
  const { api } = useSession();
  const [search, setSearch] = useState('');
  const columns: readonly Column<SubAccount>[] = [
    {
      name: 'Name',
      cell: ({ id, name }) => <a href={linkTo(['accounts', parentId, 'sub-accounts', id])}>{name}</a>,
    },
    { name: 'External id', cell: ({ external_id }) => external_id ?? '–' },
    { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  ];
  return (
    <>
      <form
        class="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setSearch(textOf(new FormData(event.currentTarget), 'q') ?? '');
        }}
      >
        <label>
          Name of a sub-account
          <input name="q" type="search" />
        </label>
        <button type="submit">Search</button>
      </form>
      <Paged<SubAccount>
        load={(cursor) => api.get(`/accounts/${parentId}/sub-accounts`, { q: search, limit: 50, cursor })}
        inputs={[parentId, search]}
      >
        {(rows) => (
          <Table
            label="Sub-accounts"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            none={search === '' ? 'The account has no sub-accounts.' : 'No sub-account has this name.'}
          />
        )}
      </Paged>
    </>
  );
}
