import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Whether the listeners of a worker take the connections that Node's cluster hands to them. */
export class Intake {
  /** If `false`, the cluster hands connections to another worker. At least one worker has to be taking connections. */
  taking: boolean;

  constructor(taking: boolean) {
    this.taking = taking;
  }

  /**
   * Makes `taking` decide whether a server takes connections. Call it before the server listens.
   *
   * A worker that has reached `server.maxConnections` sends a new connection to another worker; with a negative number
   * it sends on every connection. A worker beyond its real limit closes new connections by itself: if all workers were
   * full and sent connections on, the connections would go round for ever.
   */
  control(server: Server): void {
    let most = server.maxConnections;
    let open = 0;
    Object.defineProperty(server, 'maxConnections', {
      get: () => (this.taking ? undefined : -1),
      // A reload sets the limit of the new configuration.
      set: (limit: number) => (most = limit),
    });
    server.prependListener('connection', (socket: Socket) => {
      open += 1;
      socket.once('close', () => (open -= 1));
      if (open > most) socket.destroy();
    });
  }
}
