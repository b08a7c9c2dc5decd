import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type ServerOpts } from 'node:net';

/** Address of a listener. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Thrown if an address cannot be listened on. The message gives the address and a remedy. */
class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

/**
 * Number of sockets that accept connections. libuv accepts one connection of each in a turn of the event loop, so that
 * with a single one a client that connects 500 times a second kept others waiting for 20 seconds on a busy process.
 */
const mostSockets = 16;

/**
 * Accepts connections for a server, on as many sockets as the system lets share an address (SO_REUSEPORT: Linux, Node.js
 * from 22.12 on). A worker has the one of the process that accepts for all workers, which has little else to do.
 */
export class Acceptors {
  readonly #server: Server;
  readonly #options: ServerOpts;
  readonly #others: Server[] = [];

  /** @param options options of `server`'s connections */
  constructor(server: Server, options: ServerOpts) {
    this.#server = server;
    this.#options = options;
  }

  /**
   * Starts listening. Returns the actual address, with the port that the system chose if `port` is 0.
   *
   * @throws {CannotListen} if the port or the address cannot be used
   */
  async listen({ host, port }: Address): Promise<Address> {
    const reusePort = process.platform === 'linux' && cluster.isPrimary;
    try {
      // Another gateway of the same user would share the address, unless both start in the same moment.
      if (reusePort && port !== 0) await isFree(host, port);
      await open(this.#server, host, port, reusePort);
    } catch (error) {
      const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
      if (reason === undefined) throw error;
      throw new CannotListen(`cannot listen on ${host}:${port}: ${reason}`, { cause: error });
    }
    const address = this.#server.address() as AddressInfo;
    if (reusePort) await this.#share(address);
    return { host: address.address, port: address.port };
  }

  async #share({ address, port }: AddressInfo): Promise<void> {
    while (this.#others.length < mostSockets - 1) {
      const other = createServer(this.#options, (socket) => this.#server.emit('connection', socket));
      try {
        await open(other, address, port, true);
      } catch {
        // This Node.js cannot share it.
        return;
      }
      this.#others.push(other);
    }
  }

  /** Stops accepting connections. @param done called once all connections are closed */
  close(done: () => void): void {
    const servers = [this.#server, ...this.#others];
    let left = servers.length;
    for (const server of servers) server.close(() => --left === 0 && done());
  }
}

async function isFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  await open(probe, host, port, false);
  probe.close();
  await once(probe, 'close');
}

async function open(server: Server, host: string, port: number, reusePort: boolean): Promise<void> {
  server.listen({ host, port, reusePort });
  await once(server, 'listening');
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'the port is taken by another process. Stop that one, or choose another port (PORT, INTERNAL_PORT, PORTAL_PORT)',
  EACCES: 'this user may not use the port. Choose one above 1023 (PORT, INTERNAL_PORT, PORTAL_PORT)',
  EADDRNOTAVAIL: 'this machine does not have that address (HOST, INTERNAL_HOST, PORTAL_HOST)',
  ENOTFOUND: 'the host name is not known (HOST, INTERNAL_HOST, PORTAL_HOST)',
};
