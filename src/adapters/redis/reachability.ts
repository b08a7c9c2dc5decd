import type { RedisClient } from './client.ts';

/** Whether Redis can be used, for operators. Listeners are called on the way of requests: they must not throw. */
export interface RedisEvents {
  /** The connection was made and Redis lets this client in, or that is over. */
  onConnected?(connected: boolean): void;
  /**
   * Redis cannot be used, or does not do as it is asked; once for each code until it is connected anew.
   *
   * @param code such as `ECONNREFUSED`, or the first word of what Redis said: `WRONGPASS`, `NOPERM`. The whole text would
   * hold the arguments of a command
   */
  onTrouble?(code: string): void;
}

/**
 * Listens to a client, which connects anew by itself.
 *
 * @returns what is to be called with the error of a command that failed
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

/** Redis begins its errors with a word in capital letters. */
const redisCode = /^(?:-|\[ioredis\] )?([A-Z]{3,})\b/;

function codeOf(error: unknown): string {
  const { code, message, lastNodeError } = error as Error & { code?: unknown; lastNodeError?: unknown };
  // A cluster says that no node could be used, and has the reason of one of them.
  if (lastNodeError instanceof Error) return codeOf(lastNodeError);
  if (typeof code === 'string') return code;
  const said = redisCode.exec(message)?.[1];
  if (said !== undefined) return said;
  return /time|slow/i.test(message) ? 'ETIMEDOUT' : 'unknown';
}
