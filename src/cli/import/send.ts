import { exitCode, Failure, problemIn } from '../failure.ts';
import { pause } from '../../ports/timers.ts';

/** How long to keep retrying a call. */
export interface Patience {
  /** Milliseconds for which a call is retried, counted from the first attempt. */
  readonly forMs: number;
  /** Called before each wait, with the seconds to wait and the reason for waiting. */
  readonly onWait?: (seconds: number, reason: string) => void;
}

/** Seconds between attempts if the gateway does not say how long to wait. */
const usualWaitS = 1;
const longestWaitS = 30;

/**
 * Makes a call, and retries it while the gateway is busy, unreachable or being rolled out. Between attempts it waits as
 * long as the gateway asks, up to {@link longestWaitS}. The call must be safe to repeat.
 *
 * @param isFinal returns whether an error makes retrying pointless
 * @throws {Failure} if the gateway rejects the call for another reason, or stays busy or unreachable for too long
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
      await pause(waitS * 1000);
    }
  }
}

/** Whether a call failed because the database cancelled a statement that took too long. */
export function isSlow(error: unknown): boolean {
  return problemIn(error).reason === 'slow';
}

/** Statuses after which a retry may succeed. Rows are safe to resend, so even a 500 does not end an import. */
const passing = new Set([429, 500, 502, 503, 504]);

/** Returns the seconds to wait after an error; `undefined` if waiting cannot help. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof Failure)) return undefined;
  const { retry_after: asked } = error.details as { readonly retry_after?: number };
  if (!passing.has(problemIn(error).status ?? 0) && error.code !== exitCode.unreachable) return undefined;
  return Math.min(asked ?? usualWaitS, longestWaitS);
}

/**
 * Runs `work` for each element, at most `most` at a time. After the first error it starts no more work, waits for what
 * is still running, and throws the error.
 */
export async function eachOf<T>(
  elements: AsyncIterable<T>,
  most: number,
  work: (element: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  try {
    for await (const element of elements) {
      const one: Promise<void> = work(element)
        .catch((error: unknown) => void errors.push(error))
        .finally(() => running.delete(one));
      running.add(one);
      if (running.size >= most) await Promise.race(running);
      if (errors.length > 0) break;
    }
  } finally {
    await Promise.all(running);
  }
  if (errors.length > 0) throw errors[0];
}
