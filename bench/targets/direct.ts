import { versionOf } from '../lib/tools.ts';
import type { Target } from './target.ts';

/** The upstream without any proxy: what this client and this upstream can do at most. */
export const direct: Target = {
  name: 'direct',
  title: 'no proxy',
  enforces: 'none',
  missing: () => undefined,
  version: () => versionOf('nginx', '-v'),
  start: ({ upstreamPort, tenants }) =>
    Promise.resolve({
      port: upstreamPort,
      tenants,
      proxyPids: [],
      storePids: [],
      stop: () => Promise.resolve(),
    }),
};
