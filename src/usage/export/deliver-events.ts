import type { UsageEvent } from '../../domain/usage-event.ts';
import { PushFailed, type Receiver } from '../../ports/usage/receiver.ts';

/** An event that the receiver rejects for what is in it. */
export interface RejectedEvent {
  readonly event: UsageEvent;
  readonly error: PushFailed;
}

/**
 * Pushes a batch. Where the receiver rejects it for what is in it, its halves are pushed, and theirs, until it is found which
 * events those are: a customer that the billing system does not know must not keep all others from being billed.
 *
 * @returns the events that were rejected; all of them where the receiver accepts none
 * @throws PushFailed where it does not say that the events are why
 */
export async function deliverEvents(
  receiver: Receiver,
  events: readonly UsageEvent[],
  signal: AbortSignal,
): Promise<readonly RejectedEvent[]> {
  const [event] = events;
  if (event === undefined) return [];
  try {
    await receiver.push(events, signal);
    return [];
  } catch (error) {
    if (!(error instanceof PushFailed) || !error.aboutEvents) throw error;
    if (events.length === 1) return [{ event, error }];
    const middle = Math.ceil(events.length / 2);
    return [
      ...(await deliverEvents(receiver, events.slice(0, middle), signal)),
      ...(await deliverEvents(receiver, events.slice(middle), signal)),
    ];
  }
}
