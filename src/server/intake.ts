import type { Server } from 'node:net';

/** Decides whether a worker's listeners accept the connections that Node's cluster hands to them. */
export class Intake {
  /** If `false`, the cluster hands connections to other workers. At least one worker must accept connections. */
  taking: boolean;

  constructor(taking: boolean) {
    this.taking = taking;
  }

  /**
   * Makes `taking` decide whether a server accepts connections. Call this before the server listens.
   *
   * Node passes a new connection on to another worker if `server.maxConnections` is reached. With a `maxConnections` of
   * -1, Node passes every connection on. Node never sees the configured limit, because a connection would go round
   * forever if all workers were full.
   */
  control(server: Server): void {
    Object.defineProperty(server, 'maxConnections', { get: () => (this.taking ? undefined : -1) });
  }
}
