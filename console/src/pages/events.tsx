import type { JSX } from 'preact';
import { goTo, linkTo } from '../route.ts';
import { Heading } from '../ui/heading.tsx';
import { EventsPart } from './parts/events.tsx';

/** Types of events that people look for, with texts. */
const types = [
  ['', 'any'],
  ['api_key.created', 'key minted'],
  ['api_key.rotated', 'key rotated'],
  ['api_key.revoked', 'key revoked'],
  ['account.created', 'account created'],
  ['account.updated', 'account changed'],
  ['account.suspended', 'account suspended'],
  ['account.resumed', 'account resumed'],
  ['account.deleted', 'account deleted'],
  ['sub_account.created', 'sub-account created'],
  ['sub_account.updated', 'sub-account changed'],
  ['sub_account.deactivated', 'sub-account deactivated'],
  ['sub_account.reactivated', 'sub-account reactivated'],
  ['sub_account.deleted', 'sub-account deleted'],
  ['quota.near', 'quota near its end'],
  ['quota.reached', 'quota used up'],
  ['plan.updated', 'plan changed'],
] as const;

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
            {types.map(([name, text]) => (
              <option value={name}>{text}</option>
            ))}
          </select>
        </label>
      </form>
      <EventsPart query={{ type }} />
    </>
  );
}
