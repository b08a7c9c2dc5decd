import type { JSX } from 'preact';
import type { Account, EventList, Replica, ReplicaList } from '../api/types.ts';
import type { Page } from '../api/operator-api.ts';
import { linkTo } from '../route.ts';
import { useSession } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Show } from '../ui/loaded.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { useLoad } from '../use-load.ts';
import { EventTable } from './parts/events.tsx';
import { UsagePart } from './parts/usage.tsx';

const everyMs = 5_000;

const columns: readonly Column<Replica>[] = [
  {
    name: 'Replica',
    cell: ({ id, host, self }) => <span title={id}>{`${host ?? id}${self ? ' (this one)' : ''}`}</span>,
  },
  { name: 'State', cell: ({ state }) => <Badge state={state} /> },
  { name: 'Version', cell: ({ version }) => version ?? '–' },
  { name: 'Lease renewed', isNumber: true, cell: ({ lease_age_ms }) => `${lease_age_ms} ms ago` },
  { name: 'Lease', isNumber: true, cell: ({ lease_ms }) => `${lease_ms} ms` },
  { name: 'Changes behind', isNumber: true, cell: ({ lag }) => lag },
];

/** The state of the fleet, with what needs a hand first. */
export function OverviewPage(): JSX.Element {
  const { api } = useSession();
  const replicas = useLoad(() => api.get<ReplicaList>('/replicas'), [], everyMs);
  const near = useLoad(() => api.get<Page<Account>>('/accounts', { near: '0.8', limit: 10 }), [], 60_000);
  const events = useLoad(() => api.get<EventList>('/events', { limit: 10 }), [], everyMs);
  return (
    <>
      <h1>Overview</h1>
      <Show of={replicas}>
        {(list) => <NeedsAHand replicas={list} near={near.state === 'ready' ? near.value : null} />}
      </Show>
      <h2>Replicas</h2>
      <Show of={replicas}>
        {({ data }) => (
          <Table
            label="Replicas"
            columns={columns}
            rows={data}
            keyOf={({ id }) => id}
            none="No replica has registered."
          />
        )}
      </Show>
      <h2>Requests</h2>
      <UsagePart />
      <h2>Newest events</h2>
      <Show of={events}>{({ data }) => <EventTable rows={data} />}</Show>
      <p>
        <a href={linkTo(['events'])}>All events</a>
      </p>
    </>
  );
}

interface NeedsAHandProps {
  readonly replicas: ReplicaList;
  readonly near: Page<Account> | null;
}

/** What an operator should look at, in the order of urgency. */
function NeedsAHand({ replicas: { data, silent }, near }: NeedsAHandProps): JSX.Element {
  const lapsed = data.filter(({ state }) => state === 'lapsed');
  const nearby = near?.data ?? [];
  const isCalm = lapsed.length === 0 && silent.length === 0 && nearby.length === 0;
  return (
    <section class={isCalm ? 'calm' : 'attention'} aria-label="What needs a hand">
      {isCalm ? (
        <p>Nothing needs a hand.</p>
      ) : (
        <ul>
          {lapsed.map(({ id, host }) => (
            <li key={id}>
              Replica <strong>{host ?? id}</strong> does not renew its lease, so it decides nothing. Changes
              wait for it no longer than its lease.
            </li>
          ))}
          {silent.map(({ id, host }) => (
            <li key={id}>
              Replica <strong>{host ?? id}</strong> ended without handing over its counts of requests.
            </li>
          ))}
          {nearby.map(({ id, name }) => (
            <li key={id}>
              <a href={linkTo(['accounts', id], { tab: 'limits' })}>{name}</a> has used 80 % of a quota or
              more.
            </li>
          ))}
          {near?.has_more && (
            <li>
              <a href={linkTo(['accounts'], { near: '0.8' })}>More accounts are near a quota.</a>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}
