import type { JSX } from 'preact';
import type { Account, SubAccount } from '../../../src/generated/operator-types.ts';
import { goTo, linkTo } from '../route.ts';
import { useMay, useSession } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Heading } from '../ui/heading.tsx';
import { Show } from '../ui/loaded.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useDialog } from '../use-dialog.ts';
import { useLoad } from '../use-load.ts';
import { DeleteAccount } from './changes/delete-account.tsx';
import { EditMetadata } from './changes/edit-metadata.tsx';
import { EditSubAccount } from './changes/edit-sub-account.tsx';
import { SubAccountStatusChange } from './changes/status-change.tsx';
import { AccountFacts, MetadataFacts } from './parts/account-facts.tsx';
import { EventsPart } from './parts/events.tsx';
import { KeysPart } from './parts/keys.tsx';
import { LimitsPart } from './parts/limits.tsx';
import { UsagePart } from './parts/usage.tsx';

const tabs = [
  ['keys', 'Keys'],
  ['usage', 'Usage'],
  ['limits', 'Limits'],
  ['events', 'Events'],
] as const;

interface SubAccountPageProps {
  readonly parentId: string;
  readonly id: string;
  readonly query: URLSearchParams;
}

/** A sub-account of a parent. */
export function SubAccountPage({ parentId, id, query }: SubAccountPageProps): JSX.Element {
  const { api } = useSession();
  const both = useLoad(
    () =>
      Promise.all([
        api.get<Account>(`/accounts/${encodeURIComponent(parentId)}`),
        api.get<SubAccount>(
          `/accounts/${encodeURIComponent(parentId)}/sub-accounts/${encodeURIComponent(id)}`,
        ),
      ]),
    [parentId, id],
  );
  const tab = query.get('tab') ?? 'keys';
  return (
    <Show of={both} heading="Sub-account">
      {([parent, account]) => (
        <>
          <p class="trail">
            <a href={linkTo(['accounts'])}>Accounts</a> ›{' '}
            <a href={linkTo(['accounts', parentId])}>{parent.name}</a>{' '}
            {parent.status !== 'active' && <Badge state={parent.status} />}
          </p>
          <SubAccountHeading parentId={parentId} account={account} onChanged={both.reload} />
          <Tabs
            label="Sub-account"
            tabs={tabs}
            current={tab}
            linkOf={(to) => linkTo(['accounts', parentId, 'sub-accounts', id], { tab: to })}
          />
          <div key={account.updated_at}>
            {tab === 'keys' && <KeysPart accountId={id} />}
            {tab === 'usage' && <UsagePart accountId={parentId} subAccountId={id} />}
            {tab === 'limits' && <LimitsPart accountId={id} />}
            {tab === 'events' && <EventsPart query={{ sub_account_id: id }} />}
          </div>
        </>
      )}
    </Show>
  );
}

interface HeadingProps {
  readonly parentId: string;
  readonly account: SubAccount;
  readonly onChanged: () => void;
}

function SubAccountHeading({ parentId, account, onChanged }: HeadingProps): JSX.Element {
  const may = useMay();
  const { name, show, closed } = useDialog<'edit' | 'metadata' | 'status' | 'delete'>(onChanged);
  const isActive = account.status === 'active';
  const path = `/accounts/${parentId}/sub-accounts/${account.id}`;
  const deleted = (hasChanged: boolean): void => {
    closed(false);
    if (hasChanged) goTo(linkTo(['accounts', parentId]));
  };
  return (
    <>
      <Heading title={account.name} state={account.status}>
        {may('admin') && (
          <>
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
            {isActive ? 'Deactivate' : 'Reactivate'}
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
      {name === 'edit' && <EditSubAccount parentId={parentId} account={account} onClose={closed} />}
      {name === 'metadata' && <EditMetadata path={path} {...account} onClose={closed} />}
      {name === 'delete' && <DeleteAccount {...account} parentId={parentId} onClose={deleted} />}
      {name === 'status' && <SubAccountStatusChange parentId={parentId} account={account} onClose={closed} />}
    </>
  );
}
