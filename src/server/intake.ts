import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Whether the listeners of a worker take the connections that Node's cluster hands to it. */
export class Intake {
  /** Where this is false, the cluster hands a connection to another worker. One worker at least has to take them. */
  taking: boolean;

  constructor(taking: boolean) {
    this.taking = taking;
  }

  /**
   * Puts a server under this. To be called before it listens.
   *
   * A worker whose `server.maxConnections` is reached sends what comes to another worker: below zero it always is. Beyond its
   * real limit a worker closes connections by itself; with all workers full they would be sent round for ever.
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
