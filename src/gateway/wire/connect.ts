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

/** Opens connections to one upstream; for TLS it takes up the session of an earlier one. */
export function connector({ origin, socketPath, tls }: Address): (onread: OnReadOpts) => {
  socket: Socket;
  /** Event after which it can be used. */
  ready: 'connect' | 'secureConnect';
} {
  const secure = origin.protocol === 'https:';
  const port = origin.port === '' ? (secure ? 443 : 80) : Number(origin.port);
  const host = origin.hostname.replace(/^\[|\]$/g, '');
  let session: Buffer | undefined;

  return (onread) => {
    if (socketPath !== null) return { socket: connectTcp({ path: socketPath, onread }), ready: 'connect' };
    const tcp = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000, onread };
    if (!secure) return { socket: connectTcp(tcp), ready: 'connect' };
    const socket = connectTls({
      ...tcp,
      ...tls,
      ALPNProtocols: ['http/1.1'],
      ...(session === undefined ? {} : { session }),
    });
    socket.on('session', (latest) => (session = latest));
    // One that is refused is not offered again.
    socket.on('error', () => (session = undefined));
    return { socket, ready: 'secureConnect' };
  };
}
