import type { JSX } from 'preact';
import type { Event } from '../../../../src/generated/client-types.ts';
import { EventChange, shown } from '../../ui/event-change.tsx';
import { Paged } from '../../ui/paged.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { usePlaces } from '../places.ts';
import { usePortal } from '../session.ts';

/** What people read for each type of an event. */
const texts: Readonly<Record<Event['type'], string>> = {
  'account.created': 'Account created',
  'account.updated': 'Account changed',
  'account.suspended': 'Account suspended',
  'account.resumed': 'Account resumed',
  'account.deleted': 'Account deleted',
  'sub_account.created': 'Sub-account created',
  'sub_account.updated': 'Sub-account changed',
  'sub_account.deactivated': 'Sub-account deactivated',
  'sub_account.reactivated': 'Sub-account reactivated',
  'sub_account.deleted': 'Sub-account deleted',
  'api_key.created': 'Key minted',
  'api_key.updated': 'Key changed',
  'api_key.rotated': 'Key rotated',
  'api_key.revoked': 'Key revoked',
  'quota.near': 'Quota nearly used up',
  'quota.reached': 'Quota used up',
};

const columns: readonly Column<Event>[] = [
  { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
  // A newer gateway may know more types.
  { name: 'What', cell: ({ type }) => texts[type] ?? type },
  { name: 'Which', cell: (event) => <Subject event={event} /> },
  { name: 'By', cell: (event) => <Actor event={event} /> },
  { name: 'Change', cell: (event) => <EventChange event={event} /> },
];

interface EventsPartProps {
  /** The sub-account whose events are listed; those of the whole parent if it is missing. */
  readonly subAccountId?: string;
}

/** Events, the newest first. */
export function EventsPart({ subAccountId }: EventsPartProps): JSX.Element {
  const { api } = usePortal();
  return (
    <Paged<Event>
      load={(cursor) => api.get('/events', { sub_account_id: subAccountId, limit: 50, cursor })}
      inputs={[subAccountId]}
    >
      {(rows) => (
        <Table
          label="Events"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          none="Nothing has happened yet."
        />
      )}
    </Paged>
  );
}

interface EventProps {
  readonly event: Event;
}

/** What a change was made to, with a link if the portal has a page for it. */
function Subject({ event: { type, sub_account_id: ownerId, data } }: EventProps): JSX.Element {
  const { session } = usePortal();
  const places = usePlaces();
  // An erased name is null, and the object of a quota's event has neither name nor id.
  const { id = null } = data.object;
  const name = data.object['name'] ?? id;
  if (ownerId === null) return <>{name === null ? session.account.name : shown(name)}</>;
  // A deleted sub-account has no page.
  if (type === 'sub_account.deleted') return <>{shown(name)}</>;
  if (type.startsWith('api_key.')) return <a href={places.key(ownerId, shown(id))}>{shown(name)}</a>;
  const text = name === null ? (session.sub_account?.name ?? ownerId) : shown(name);
  return <a href={places.subAccount(ownerId)}>{text}</a>;
}

/** Who made a change. People of one sub-account are not told who it was at the parent. */
function Actor({ event: { actor } }: EventProps): JSX.Element {
  const { session } = usePortal();
  switch (actor.kind) {
    case 'portal':
      return (
        <>
          {actor.user ?? 'somebody'} <span class="soft">in the portal</span>
        </>
      );
    case 'api_key':
      return <>{actor.name ?? session.account.name}</>;
    case 'operator':
      return <>the provider</>;
    default:
      return <>the system</>;
  }
}
