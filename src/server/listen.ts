import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

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
 * Starts listening. Returns the actual address, with the port that the system chose if `port` is 0.
 *
 * @throws {CannotListen} if the port or the address cannot be used
 */
export async function listen(server: Server, { host, port }: Address): Promise<Address> {
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    throw new CannotListen(`cannot listen on ${host}:${port}: ${reason}`, { cause: error });
  }
  const address = server.address() as AddressInfo;
  return { host: address.address, port: address.port };
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'the port is taken by another process. Stop that one, or choose another port (PORT, INTERNAL_PORT, PORTAL_PORT)',
  EACCES: 'this user may not use the port. Choose one above 1023 (PORT, INTERNAL_PORT, PORTAL_PORT)',
  EADDRNOTAVAIL: 'this machine does not have that address (HOST, INTERNAL_HOST, PORTAL_HOST)',
  ENOTFOUND: 'the host name is not known (HOST, INTERNAL_HOST, PORTAL_HOST)',
};
