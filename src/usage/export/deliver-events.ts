import type { UsageEvent } from '../../domain/usage-event.ts';
import { PushFailed, type Receiver } from '../../ports/usage/receiver.ts';

/** An event whose content the receiver rejects. */
export interface RejectedEvent {
  readonly event: UsageEvent;
  readonly error: PushFailed;
}

/**
 * Pushes a batch. If the receiver rejects the batch's content, halves the batch repeatedly until the rejected events
 * are found. Without the halving, one customer unknown to the billing system would keep all others from being billed.
 *
 * @returns the rejected events; all of them if the receiver accepts none
 * @throws PushFailed if the push fails for a reason other than the events' content
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
