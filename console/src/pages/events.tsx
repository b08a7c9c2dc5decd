import type { JSX } from 'preact';
import type { Event } from '../../../src/generated/operator-types.ts';
import { goTo, linkTo } from '../route.ts';
import { Heading } from '../ui/heading.tsx';
import { EventsPart } from './parts/events.tsx';

/** Types of events, as the table shows them. */
const types: readonly Event['type'][] = [
  'account.created',
  'account.updated',
  'account.suspended',
  'account.resumed',
  'account.deleted',
  'sub_account.created',
  'sub_account.updated',
  'sub_account.deactivated',
  'sub_account.reactivated',
  'sub_account.deleted',
  'api_key.created',
  'api_key.updated',
  'api_key.rotated',
  'api_key.revoked',
  'quota.near',
  'quota.reached',
  'plan.created',
  'plan.updated',
  'plan.deleted',
];

/** Changes of all accounts, the newest first. */
export function EventsPage({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const type = query.get('type') ?? '';
  return (
    <>
      <Heading title="Events" />
      <form class="filters">
        <label>
          Type
          <select
            value={type}
            onChange={(event) => goTo(linkTo(['events'], { type: event.currentTarget.value }), false)}
          >
            <option value="">any</option>
            {types.map((name) => (
              <option value={name}>{name}</option>
            ))}
          </select>
        </label>
      </form>
      <EventsPart query={{ type }} />
    </>
  );
}
