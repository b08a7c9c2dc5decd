import { connect as connectTcp, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** How an `https:` upstream is verified, and how the gateway shows itself to it. */
export interface UpstreamTls {
  readonly rejectUnauthorized: true;
  /** Name to ask for and to verify; empty for an address, which is verified as such (RFC 6066 §3). */
  readonly servername: string;
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Where an upstream listens. */
export interface Address {
  /** Of no meaning where there is a socket path. */
  readonly origin: URL;
  readonly socketPath: string | null;
  readonly tls: UpstreamTls;
}

/** A connection in the making. */
export interface Connecting {
  readonly socket: Socket;
  /** Event after which it can be used; what goes wrong before is an `error` of the socket. */
  readonly ready: 'connect' | 'secureConnect';
}

/** How a connection is going to be used. */
export interface Use {
  readonly onread?: OnReadOpts;
  /** Each direction ends by itself. */
  readonly allowHalfOpen?: boolean;
  /** TLS session of an earlier connection. */
  readonly session?: Buffer | undefined;
}

/** Opens a connection to an upstream. */
export function openConnection({ origin, socketPath, tls }: Address, { session, ...use }: Use): Connecting {
  if (socketPath !== null) return { socket: connectTcp({ path: socketPath, ...use }), ready: 'connect' };
  const secure = origin.protocol === 'https:';
  const tcp = {
    host: origin.hostname.replace(/^\[|\]$/g, ''),
    port: origin.port === '' ? (secure ? 443 : 80) : Number(origin.port),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    ...use,
  };
  if (!secure) return { socket: connectTcp(tcp), ready: 'connect' };
  const resumed = session === undefined ? {} : { session };
  return {
    socket: connectTls({ ...tcp, ...tls, ...resumed, ALPNProtocols: ['http/1.1'] }),
    ready: 'secureConnect',
  };
}

/** Opens connections to one upstream; for TLS each takes up the session of an earlier one. */
export function connector(address: Address): (onread: OnReadOpts) => Connecting {
  let session: Buffer | undefined;
  return (onread) => {
    const connecting = openConnection(address, { onread, session });
    connecting.socket.on('session', (latest: Buffer) => (session = latest));
    // The failure may be the upstream's rejection of the session: the next connection does without one.
    connecting.socket.on('error', () => (session = undefined));
    return connecting;
  };
}
