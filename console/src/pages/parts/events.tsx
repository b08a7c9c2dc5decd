import type { JSX } from 'preact';
import type { Query } from '../../api/api-client.ts';
import type { Event } from '../../../../src/generated/operator-types.ts';
import { linkTo } from '../../route.ts';
import { useSession } from '../../session.ts';
import { EventChange, shown } from '../../ui/event-change.tsx';
import { Paged } from '../../ui/paged.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const columns: readonly Column<Event>[] = [
  { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
  { name: 'What', cell: ({ type }) => <code>{type}</code> },
  { name: 'Which', cell: (event) => <Subject event={event} /> },
  { name: 'By', cell: ({ actor: { kind, name } }) => <Actor name={name} kind={kind} /> },
  { name: 'Change', cell: (event) => <EventChange event={event} /> },
];

/** The table of some events. */
export function EventTable({ rows }: { readonly rows: readonly Event[] }): JSX.Element {
  return (
    <Table
      label="Events"
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      none="There are no such events."
    />
  );
}

/** Events, the newest first. */
export function EventsPart({ query }: { readonly query: Query }): JSX.Element {
  const { api } = useSession();
  return (
    <Paged<Event> load={(cursor) => api.get('/events', { ...query, limit: 50, cursor })} inputs={[query]}>
      {(rows) => <EventTable rows={rows} />}
    </Paged>
  );
}

/** What a change was made to, with a link. */
function Subject({ event: { type, account_id, sub_account_id, data } }: EventProps): JSX.Element {
  // An erased name is null, and the object of a quota's event has neither name nor id.
  const { id = null } = data.object;
  const name = shown(data.object['name'] ?? id ?? sub_account_id ?? account_id);
  if (type.startsWith('api_key.')) return <a href={linkTo(['keys', shown(id)])}>{name}</a>;
  if (account_id === null) return <>{name}</>;
  // All that is left to show of a deleted account is its erasure.
  if (type.endsWith('account.deleted'))
    return <a href={linkTo(['erasures', sub_account_id ?? account_id])}>{name}</a>;
  const path = sub_account_id === null ? [account_id] : [account_id, 'sub-accounts', sub_account_id];
  return <a href={linkTo(['accounts', ...path])}>{name}</a>;
}

interface EventProps {
  readonly event: Event;
}

/** Who made a change. */
function Actor({ name, kind }: Pick<Event['actor'], 'name' | 'kind'>): JSX.Element {
  if (name === null) return <>{kind}</>;
  return (
    <>
      {name} <span class="soft">{kind.replace('_', ' ')}</span>
    </>
  );
}
