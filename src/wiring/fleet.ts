import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { Unreadiness } from '../ops/health.ts';

/** The workers that share the listeners, as one of them sees them. Each decides by itself; to the outside they are one. */
export interface Fleet {
  /**
   * What keeps all of them together from deciding: what `/readyz` says on each.
   *
   * @param own what keeps this one from it: the others are told
   */
  unready(own: () => readonly Unreadiness[]): () => readonly Unreadiness[];
  /** What all of them have counted. @param own what this one counts: it is asked for by the others */
  metrics(own: Registry): Pick<Registry, 'metrics' | 'contentType'>;
  /** Keeps connections away from `server` while others are to take them. To be called before it listens. */
  control(server: Server): void;
}
