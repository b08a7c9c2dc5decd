import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Account, SubAccount } from '../../../src/generated/operator-types.ts';
import { textOf } from '../form.ts';
import { goTo, linkTo } from '../route.ts';
import { useMay, useSession } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Heading } from '../ui/heading.tsx';
import { Show } from '../ui/loaded.tsx';
import { Paged } from '../ui/paged.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Time } from '../ui/time.tsx';
import { useDialog, type Closed } from '../use-dialog.ts';
import { useLoad } from '../use-load.ts';
import { CreateSubAccount } from './changes/create-sub-account.tsx';
import { DeleteAccount } from './changes/delete-account.tsx';
import { EditAccount } from './changes/edit-account.tsx';
import { EditMetadata } from './changes/edit-metadata.tsx';
import { MintKey } from './changes/mint-key.tsx';
import { AccountStatusChange } from './changes/status-change.tsx';
import { AccountFacts, MetadataFacts } from './parts/account-facts.tsx';
import { EventsPart } from './parts/events.tsx';
import { KeysPart } from './parts/keys.tsx';
import { LimitsPart } from './parts/limits.tsx';
import { UsagePart } from './parts/usage.tsx';

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
  const { name, show, closed } = useDialog<'edit' | 'metadata' | 'status' | 'mint' | 'create' | 'delete'>(
    onChanged,
  );
  const isActive = account.status === 'active';
  return (
    <>
      <Heading title={account.name} state={account.status}>
        {may('admin') && (
          <>
            <button type="button" onClick={() => show('mint')}>
              Mint a key
            </button>
            <button type="button" onClick={() => show('create')}>
              Create a sub-account
            </button>
            <button type="button" onClick={() => show('edit')}>
              Edit
            </button>
            <button type="button" onClick={() => show('metadata')}>
              Metadata
            </button>
          </>
        )}
        {may('support') && (
          <button type="button" class={isActive ? 'danger' : undefined} onClick={() => show('status')}>
            {isActive ? 'Suspend' : 'Resume'}
          </button>
        )}
        {may('admin') && !isActive && (
          <button type="button" class="danger" onClick={() => show('delete')}>
            Delete
          </button>
        )}
      </Heading>
      <AccountFacts account={account} />
      <MetadataFacts metadata={account.metadata} />
      <AccountDialogs account={account} name={name} onClose={closed} />
    </>
  );
}

interface DialogsProps {
  readonly account: Account;
  /** Name of the dialog that is open. */
  readonly name: string | null;
  readonly onClose: Closed;
}

function AccountDialogs({ account, name, onClose }: DialogsProps): JSX.Element {
  const deleted = (hasChanged: boolean): void => {
    onClose(false);
    if (hasChanged) goTo(linkTo(['accounts']));
  };
  return (
    <>
      {name === 'edit' && <EditAccount account={account} onClose={onClose} />}
      {name === 'metadata' && (
        <EditMetadata path={`/accounts/${account.id}`} {...account} onClose={onClose} />
      )}
      {name === 'status' && <AccountStatusChange account={account} onClose={onClose} />}
      {name === 'mint' && <MintKey accountId={account.id} onClose={onClose} />}
      {name === 'create' && <CreateSubAccount parentId={account.id} onClose={onClose} />}
      {name === 'delete' && <DeleteAccount id={account.id} name={account.name} onClose={deleted} />}
    </>
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
