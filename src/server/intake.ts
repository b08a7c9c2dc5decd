import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Whether the listeners of a worker take the connections that Node's cluster hands to them. */
export class Intake {
  /** If `false`, the cluster hands connections to another worker. At least one worker has to take them. */
  taking: boolean;

  constructor(taking: boolean) {
    this.taking = taking;
  }

  /**
   * Puts a server under this control. Call it before the server listens.
   *
   * A worker that has reached `server.maxConnections` sends a new connection to another worker. If that number is below
   * zero, it always does. A worker beyond its real limit closes connections by itself, because connections would go
   * round for ever if all workers were full.
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
