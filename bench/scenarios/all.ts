import { bodies, connections, smallGet, tenants } from './closed-loop.ts';
import { latency } from './latency.ts';
import type { Case } from './scenario.ts';
import { sse } from './sse.ts';

/** What can be measured, by the name `--scenario` takes. */
export const scenarios: Readonly<Record<string, readonly Case[]>> = {
  'small-get': smallGet,
  latency,
  bodies,
  connections,
  tenants,
  sse,
};
