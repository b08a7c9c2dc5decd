import type { JSX } from 'preact';
import type { Query } from '../../api/operator-api.ts';
import type { Event } from '../../../../src/api/reference/documents/operator-types.ts';
import { linkTo } from '../../route.ts';
import { useSession } from '../../session.ts';
import { Paged } from '../../ui/paged.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const columns: readonly Column<Event>[] = [
  { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
  { name: 'What', cell: ({ type }) => <code>{type}</code> },
  { name: 'Which', cell: (event) => <Subject event={event} /> },
  { name: 'By', cell: ({ actor: { kind, name } }) => <Actor name={name} kind={kind} /> },
  { name: 'Change', cell: (event) => <Change event={event} /> },
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
  const { id = null, name = id } = data.object;
  if (type.startsWith('api_key.')) return <a href={linkTo(['keys', shown(id)])}>{shown(name)}</a>;
  if (account_id === null) return <>{shown(name)}</>;
  const path = sub_account_id === null ? [account_id] : [account_id, 'sub-accounts', sub_account_id];
  // The object of a quota's event has no name.
  return <a href={linkTo(['accounts', ...path])}>{name === null ? path.at(-1) : shown(name)}</a>;
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

/** The changed members, with their former and new values; for a quota, how much of it was used. */
function Change({ event: { type, data } }: EventProps): JSX.Element {
  const { object, previous } = data;
  if (type.startsWith('quota.'))
    return (
      <>{`${shown(object['used'])} of ${shown(object['quota'])} ${shown(object['unit'])} a ${shown(object['per'])}`}</>
    );
  const changed = differences(previous ?? {}, object);
  if (changed.length === 0) return <span class="soft">–</span>;
  return (
    <ul class="plain">
      {changed.map(({ name, before, after }) => (
        <li>
          {name}: <del>{shown(before)}</del> → <ins>{shown(after)}</ins>
        </li>
      ))}
    </ul>
  );
}

interface Difference {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** Compares the former members of an object with its present ones, and members of members. */
function differences(previous: Members, object: Members): Difference[] {
  return Object.entries(previous).flatMap(([name, before]) => {
    const after = object[name];
    if (isObject(before) && isObject(after))
      return differences(before, after).map((inner) => ({ ...inner, name: `${name}.${inner.name}` }));
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ name, before, after }];
  });
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
