import type { RedisClient } from './client.ts';

/**
 * Listeners that tell operators whether Redis can be used. They are called while requests wait, so they must not throw.
 */
export interface RedisEvents {
  /** Called with `true` once Redis has accepted the connection, and with `false` when the connection ends. */
  onConnected?(connected: boolean): void;
  /**
   * Called when Redis cannot be used or rejects a command. Each code is reported only once until Redis accepts a
   * connection again.
   *
   * @param code error code such as `ECONNREFUSED`, or the first word of an error from Redis, such as `WRONGPASS` or
   * `NOPERM`. The full message is not passed on, because it may contain command arguments
   */
  onTrouble?(code: string): void;
}

/**
 * Reports to `events` when a client connects, fails or loses its connection. The client reconnects by itself.
 *
 * @returns a function to call with the error of a failed command
 */
export function watchReachability(client: RedisClient, events: RedisEvents): (error: unknown) => void {
  const said = new Set<string>();
  const trouble = (error: unknown): void => {
    const code = codeOf(error);
    if (said.has(code)) return;
    said.add(code);
    events.onTrouble?.(code);
  };
  client.on('ready', () => {
    said.clear();
    events.onConnected?.(true);
  });
  client.on('close', () => events.onConnected?.(false));
  client.on('error', trouble);
  return trouble;
}

/** Errors from Redis begin with a word in capital letters. */
const redisCode = /^(?:-|\[ioredis\] )?([A-Z]{3,})\b/;

function codeOf(error: unknown): string {
  const { code, message, lastNodeError } = error as Error & { code?: unknown; lastNodeError?: unknown };
  // A cluster's error only says that no node could be used; its `lastNodeError` gives the reason.
  if (lastNodeError instanceof Error) return codeOf(lastNodeError);
  if (typeof code === 'string') return code;
  const said = redisCode.exec(message)?.[1];
  if (said !== undefined) return said;
  return /time|slow/i.test(message) ? 'ETIMEDOUT' : 'unknown';
}
