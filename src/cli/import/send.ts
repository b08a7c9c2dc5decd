import { setTimeout as sleep } from 'node:timers/promises';
import { exitCode, Failure } from '../failure.ts';

/** How a call is sent again. */
export interface Patience {
  /** Milliseconds for which a call is sent again, counted from the first time. */
  readonly forMs: number;
  /** Told that a call has to wait. */
  readonly onWait?: (seconds: number, reason: string) => void;
}

/** Waits between two attempts, where the gateway does not say how long: seconds. */
const usualWaitS = 1;
const longestWaitS = 30;

/**
 * Sends a call that may be sent as often as one likes: again while the gateway is busy, in a roll-out or away, after the time
 * that it asks for.
 *
 * @param isFinal whether another attempt at the same call cannot help
 * @throws {Failure} where it rejects the call for another reason, or stays away for too long
 */
export async function patiently<T>(
  call: () => Promise<T>,
  { forMs, onWait }: Patience,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const until = performance.now() + forMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const waitS = waitOf(error);
      if (waitS === undefined || isFinal(error) || performance.now() + waitS * 1000 > until) throw error;
      onWait?.(waitS, (error as Failure).message);
      await sleep(waitS * 1000);
    }
  }
}

/** Whether the database gave up a statement that took too long. */
export function isSlow(error: unknown): boolean {
  const { problem } = (error instanceof Failure ? error.details : {}) as {
    readonly problem?: { readonly reason?: string };
  };
  return problem?.reason === 'slow';
}

/** What a call may get that would succeed later: rows may be sent again as often as one likes, so a 500 ends no import either. */
const passing = new Set([429, 500, 502, 503, 504]);

/** Seconds to wait; `undefined` where waiting is of no use. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof Failure)) return undefined;
  const { problem, retry_after: asked } = error.details as {
    readonly problem?: { readonly status?: number };
    readonly retry_after?: number;
  };
  if (!passing.has(problem?.status ?? 0) && error.code !== exitCode.unreachable) return undefined;
  return Math.min(asked ?? usualWaitS, longestWaitS);
}

/** Does `work` for each element, `most` of them at a time. After an error nothing new is begun, and it is thrown. */
export async function eachOf<T>(
  elements: AsyncIterable<T>,
  most: number,
  work: (element: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  for await (const element of elements) {
    const one: Promise<void> = work(element)
      .catch((error: unknown) => void errors.push(error))
      .finally(() => running.delete(one));
    running.add(one);
    if (running.size >= most) await Promise.race(running);
    if (errors.length > 0) break;
  }
  await Promise.all(running);
  if (errors.length > 0) throw errors[0];
}
