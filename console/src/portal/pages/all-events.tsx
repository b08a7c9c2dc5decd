import type { JSX } from 'preact';
import { Heading } from '../../ui/heading.tsx';
import { EventsPart } from '../parts/events.tsx';
import { usePortal } from '../session.ts';

/** Changes of all sub-accounts, the newest first. */
export function AllEventsPage(): JSX.Element {
  const { session } = usePortal();
  return (
    <>
      <p class="trail">{session.account.name}</p>
      <Heading title="Events" />
      <EventsPart />
    </>
  );
}
