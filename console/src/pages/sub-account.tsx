import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Account, SubAccount } from '../../../src/api/reference/documents/operator-types.ts';
import { linkTo } from '../route.ts';
import { useMay, useSession } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Copy } from '../ui/copy.tsx';
import { Show } from '../ui/loaded.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Time } from '../ui/time.tsx';
import { useLoad } from '../use-load.ts';
import { EditSubAccount } from './changes/edit-sub-account.tsx';
import { SubAccountStatusChange } from './changes/status-change.tsx';
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
            <a href={linkTo(['accounts', parentId])}>{parent.name}</a>
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
  const [asked, setAsked] = useState<'edit' | 'status' | null>(null);
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
            <button type="button" onClick={() => setAsked('edit')}>
              Edit
            </button>
          )}
          {may('support') && (
            <button
              type="button"
              class={account.status === 'active' ? 'danger' : undefined}
              onClick={() => setAsked('status')}
            >
              {account.status === 'active' ? 'Deactivate' : 'Reactivate'}
            </button>
          )}
        </div>
      </div>
      <dl class="facts">
        <dt>Id</dt>
        <dd>
          <Copy text={account.id} what="the id" />
        </dd>
        <dt>External id</dt>
        <dd>{account.external_id ?? '–'}</dd>
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
      {asked === 'edit' && <EditSubAccount parentId={parentId} account={account} onClose={close} />}
      {asked === 'status' && <SubAccountStatusChange parentId={parentId} account={account} onClose={close} />}
    </>
  );
}
