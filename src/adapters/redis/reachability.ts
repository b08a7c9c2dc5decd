import type { RedisClient } from './client.ts';

/** Tells operators whether Redis can be used. Listeners are called while requests wait: they must not throw. */
export interface RedisEvents {
  /**
   * Called with `true` when Redis is connected and has accepted this client, and with `false` when the connection
   * ends.
   */
  onConnected?(connected: boolean): void;
  /**
   * Called when Redis cannot be used or rejects a command; once for each code until the next connection.
   *
   * @param code such as `ECONNREFUSED`, or the first word of the error from Redis: `WRONGPASS`, `NOPERM`. It is never
   * the whole text, which contains the arguments of a command
   */
  onTrouble?(code: string): void;
}

/**
 * Listens to a client, which reconnects by itself.
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
  // A cluster reports that no node could be used; the error of one node is the reason.
  if (lastNodeError instanceof Error) return codeOf(lastNodeError);
  if (typeof code === 'string') return code;
  const said = redisCode.exec(message)?.[1];
  if (said !== undefined) return said;
  return /time|slow/i.test(message) ? 'ETIMEDOUT' : 'unknown';
}
