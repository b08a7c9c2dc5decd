import type { JSX } from 'preact';
import { Copy } from '../../ui/copy.tsx';
import { Heading } from '../../ui/heading.tsx';
import { Show } from '../../ui/loaded.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useLoad } from '../../use-load.ts';
import { EventsPart } from '../parts/events.tsx';
import { KeysPart } from '../parts/keys.tsx';
import { LimitsPart } from '../parts/limits.tsx';
import { UsagePart } from '../parts/usage.tsx';
import { usePlaces } from '../places.ts';
import type { Permission } from '../portal-session.ts';
import { useMay, usePortal } from '../session.ts';
import type { ShownSubAccount } from './sub-accounts.tsx';

const tabs: readonly (readonly [name: string, text: string, permissions: readonly Permission[]])[] = [
  ['keys', 'Keys', ['keys:read', 'keys:write']],
  ['usage', 'Usage', ['usage:read']],
  ['limits', 'Limits', ['usage:read']],
  ['events', 'Events', ['events:read']],
];

interface SubAccountPageProps {
  readonly id: string;
  /** The part that the address names; `null` for the first one. */
  readonly tab: string | null;
}

/** One sub-account, with the parts that the session may see. */
export function SubAccountPage(props: SubAccountPageProps): JSX.Element {
  const { session } = usePortal();
  const may = useMay();
  const { id } = props;
  const only = session.sub_account;
  const known = only?.id === id ? only : { id, name: 'Sub-account', external_id: null };
  return (
    <>
      <Trail id={id} />
      {may('sub_accounts:read') ? (
        <LoadedSubAccount {...props} />
      ) : (
        <>
          <SubAccountFacts account={known} />
          <Parts {...props} />
        </>
      )}
    </>
  );
}

function LoadedSubAccount(props: SubAccountPageProps): JSX.Element {
  const { api } = usePortal();
  const { id } = props;
  const account = useLoad(() => api.get<ShownSubAccount>(`/sub-accounts/${encodeURIComponent(id)}`), [id]);
  return (
    <Show of={account} heading="Sub-account">
      {(value) => (
        <>
          <SubAccountFacts account={value} />
          <Parts {...props} />
        </>
      )}
    </Show>
  );
}

function Parts({ id, tab }: SubAccountPageProps): JSX.Element {
  const may = useMay();
  const places = usePlaces();
  const shown = tabs.filter(([, , permissions]) => permissions.some(may));
  const current = tab ?? shown[0]?.[0] ?? '';
  const parts = {
    keys: <KeysPart ownerId={id} />,
    usage: <UsagePart subAccountId={id} />,
    limits: <LimitsPart subAccountId={id} />,
    events: <EventsPart subAccountId={id} />,
  };
  return (
    <>
      {shown.length > 0 && (
        <Tabs
          label="Sub-account"
          tabs={shown.map(([name, text]) => [name, text])}
          current={current}
          linkOf={(to) => places.subAccount(id, to)}
        />
      )}
      {shown.some(([name]) => name === current) ? (
        parts[current as keyof typeof parts]
      ) : (
        <p class="soft">Your session shows nothing here.</p>
      )}
    </>
  );
}

/** Where the page is. Nothing for a session with one sub-account. */
export function Trail({ id, name }: { readonly id: string; readonly name?: string }): JSX.Element | null {
  const { session } = usePortal();
  const places = usePlaces();
  if (session.sub_account !== null && name === undefined) return null;
  return (
    <p class="trail">
      {session.sub_account === null && <a href="#/">Sub-accounts</a>}
      {session.sub_account === null && name !== undefined && ' › '}
      {name !== undefined && <a href={places.subAccount(id)}>{name}</a>}
    </p>
  );
}

interface FactsProps {
  readonly account: Pick<ShownSubAccount, 'id' | 'name' | 'external_id'> & Partial<ShownSubAccount>;
}

function SubAccountFacts({ account: { id, name, external_id, status } }: FactsProps): JSX.Element {
  return (
    <>
      {status === undefined ? <Heading title={name} /> : <Heading title={name} state={status} />}
      {status === 'deactivated' && (
        <p class="warning">This sub-account is deactivated: requests with its keys are rejected.</p>
      )}
      <dl class="facts">
        <dt>Id</dt>
        <dd>
          <Copy text={id} what="the id" />
        </dd>
        {external_id !== null && (
          <>
            <dt>External id</dt>
            <dd>{external_id}</dd>
          </>
        )}
      </dl>
    </>
  );
}
