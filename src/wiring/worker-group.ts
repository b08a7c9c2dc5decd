import type { Server } from 'node:net';
import type { Registry } from 'prom-client';
import type { Unreadiness } from '../ops/health.ts';

/**
 * All workers of one gateway, as one worker sees them. Each worker decides separately, but from the outside they look
 * like one process.
 */
export interface WorkerGroup {
  /**
   * Returns the function that each worker's `/readyz` calls. The function returns the reasons why no worker in the
   * group can decide.
   *
   * @param own gives this worker's reasons, which are sent to the primary
   */
  unready(own: () => readonly Unreadiness[]): () => readonly Unreadiness[];
  /**
   * Makes a registry that shows the metrics of all workers.
   *
   * @param own this worker's metrics, which are sent to the primary
   */
  metrics(own: Registry): Pick<Registry, 'metrics' | 'contentType'>;
  /** Keeps connections away from `server` while other workers should accept them. Call it before the server listens. */
  control(server: Server): void;
}
