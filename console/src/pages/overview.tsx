import type { JSX } from 'preact';
import type { Account, EventList, Replica, ReplicaList } from '../../../src/generated/operator-types.ts';
import type { Page } from '../api/api-client.ts';
import { formatAgo, formatCount } from '../format.ts';
import { linkTo } from '../route.ts';
import { useSession } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Heading } from '../ui/heading.tsx';
import { Show } from '../ui/loaded.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { useLoad } from '../use-load.ts';
import { EventTable } from './parts/events.tsx';

const everyMs = 5_000;

const columns: readonly Column<Replica>[] = [
  {
    name: 'Replica',
    cell: ({ id, host, self }) => <span title={id}>{`${host ?? id}${self ? ' (this one)' : ''}`}</span>,
  },
  { name: 'State', cell: ({ state }) => <Badge state={state} /> },
  {
    name: 'Ready',
    cell: ({ figures }) => figures && <Badge state={figures.ready ? 'ready' : 'not ready'} />,
  },
  {
    name: 'Requests/s',
    isNumber: true,
    cell: ({ figures }) => figures && formatCount(figures.requests_per_second),
  },
  { name: 'p50', isNumber: true, cell: ({ figures }) => formatMs(figures?.p50_ms) },
  { name: 'p99', isNumber: true, cell: ({ figures }) => formatMs(figures?.p99_ms) },
  { name: 'Streams', isNumber: true, cell: ({ figures }) => figures && formatCount(figures.open_streams) },
  {
    name: 'Connections',
    isNumber: true,
    cell: ({ figures }) => figures && formatCount(figures.open_connections),
  },
  {
    name: 'Memory',
    isNumber: true,
    cell: ({ figures }) => figures && `${Math.round(figures.rss_bytes / 2 ** 20)} MB`,
  },
  { name: 'Redis', cell: ({ figures }) => figures?.redis ?? '–' },
  { name: 'Lease', isNumber: true, cell: (replica) => <Lease {...replica} /> },
  { name: 'Behind', isNumber: true, cell: ({ lag }) => formatCount(lag) },
  { name: 'Version', cell: ({ version }) => version ?? '–' },
];

/** When a replica renewed its lease, and for how long a renewal holds. */
function Lease({ lease_age_ms, lease_ms }: Pick<Replica, 'lease_age_ms' | 'lease_ms'>): JSX.Element {
  return <span title={`renewed ${lease_age_ms} ms ago`}>{`${lease_age_ms} of ${lease_ms} ms`}</span>;
}

function formatMs(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '–' : `${formatCount(ms)} ms`;
}

/** The state of the fleet, with what needs a hand first. */
export function OverviewPage(): JSX.Element {
  const { api } = useSession();
  const replicas = useLoad(() => api.get<ReplicaList>('/replicas'), [], everyMs);
  const near = useLoad(() => api.get<Page<Account>>('/accounts', { near: '0.8', limit: 10 }), [], 60_000);
  const events = useLoad(() => api.get<EventList>('/events', { limit: 10 }), [], everyMs);
  return (
    <>
      <Heading title="Overview" />
      <Show of={replicas}>
        {(list) => <Show of={near}>{(accounts) => <NeedsAHand replicas={list} near={accounts} />}</Show>}
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
      <h2>Refusals of the last minute</h2>
      <Show of={replicas}>{({ data }) => <Refusals replicas={data} />}</Show>
      <h2>Newest events</h2>
      <Show of={events}>{({ data }) => <EventTable rows={data} />}</Show>
      <p>
        <a href={linkTo(['events'])}>All events</a>
      </p>
    </>
  );
}

/** Problem codes of the last minute, over all replicas that report. */
function Refusals({ replicas }: { readonly replicas: readonly Replica[] }): JSX.Element {
  const sums = new Map<string, number>();
  for (const { code, count } of replicas.flatMap(({ figures }) => figures?.refusals ?? []))
    sums.set(code, (sums.get(code) ?? 0) + count);
  const silent = replicas.filter(({ figures }) => figures === null).length;
  return (
    <>
      <Table
        label="Refusals"
        columns={refusalColumns}
        rows={[...sums].sort(([, a], [, b]) => b - a)}
        keyOf={([code]) => code}
        none="Nothing was refused."
      />
      <p class="soft">
        {replicas.length - silent} of {replicas.length} replicas report.
      </p>
    </>
  );
}

const refusalColumns: readonly Column<readonly [string, number]>[] = [
  { name: 'Code', cell: ([code]) => <code>{code}</code> },
  { name: 'Requests', isNumber: true, cell: ([, count]) => formatCount(count) },
];

interface NeedsAHandProps {
  readonly replicas: ReplicaList;
  readonly near: Page<Account>;
}

/** What an operator should look at, in the order of urgency. */
function NeedsAHand({ replicas: { data, silent }, near }: NeedsAHandProps): JSX.Element {
  const nearby = near.data;
  const troubles = data.flatMap(troublesOf);
  const isCalm = troubles.length === 0 && silent.length === 0 && nearby.length === 0;
  return (
    <section class={isCalm ? 'calm' : 'attention'} aria-label="What needs a hand">
      {isCalm ? (
        <p>Nothing needs a hand.</p>
      ) : (
        <ul>
          {troubles.map(({ id, host, text }) => (
            <li key={`${id} ${text}`}>
              Replica <strong title={id}>{host ?? id}</strong> {text}
            </li>
          ))}
          {silent.map(({ id, host }) => (
            <li key={id}>
              Replica <strong title={id}>{host ?? id}</strong> ended without handing over its counts of
              requests.
            </li>
          ))}
          {nearby.map(({ id, name }) => (
            <li key={id}>
              <a href={linkTo(['accounts', id], { tab: 'limits' })}>{name}</a> has used 80 % of a quota or
              more.
            </li>
          ))}
          {near.has_more && (
            <li>
              <a href={linkTo(['accounts'], { near: '0.8' })}>More accounts are near a quota.</a>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}

/** A certificate needs a hand this long before it ends, in milliseconds. */
const certificateMs = 14 * 24 * 3_600_000;

/** What is wrong with a replica. Each text continues the sentence "Replica …". */
function troublesOf({ id, host, state, figures }: Replica) {
  const texts: string[] = [];
  if (state === 'lapsed') texts.push('does not renew its lease, so it decides nothing.');
  if (figures !== null) {
    const { ready, unready, redis, certificate_expires_at: expiresAt } = figures;
    if (!ready) texts.push(`is not ready: ${unready.join(', ')}.`);
    if (redis === 'down')
      texts.push('does not reach Redis. It goes on deciding, and reads PostgreSQL instead.');
    if (expiresAt !== null && Date.parse(expiresAt) - Date.now() < certificateMs)
      texts.push(`has a certificate that ends ${formatAgo(expiresAt, Date.now())}.`);
  }
  return texts.map((text) => ({ id, host, text }));
}
