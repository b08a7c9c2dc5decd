import type { FactCache } from '../ports/fact-cache.ts';

/** Stands for the shared cache where there is none. */
export const noFactCache: FactCache = {
  get: async () => new Map(),
  set: () => undefined,
};
