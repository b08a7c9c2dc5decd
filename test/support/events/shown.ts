/** The events of a parent as the two APIs show them. */
import type { Apis, Parent } from '../apis.ts';
import type { ShownEvent } from './event-reader.ts';

/** What an operator sees of a parent, oldest first: at most 100. */
export async function eventsOf(apis: Apis, account: string): Promise<ShownEvent[]> {
  const { body } = await apis.operator('GET', `/events?account_id=${account}&limit=100`);
  return (body['data'] as ShownEvent[]).toReversed();
}

/** What the parent sees, oldest first: at most 100. */
export async function seenBy(parent: Parent): Promise<ShownEvent[]> {
  return ((await parent.call('GET', '/events?limit=100')).body['data'] as ShownEvent[]).toReversed();
}
