import type { FactCache } from '../ports/fact-cache.ts';

/** Stands in for the shared cache if none is configured. */
export const noFactCache: FactCache = {
  get: async () => new Map(),
  set: () => undefined,
};
