import { connect as connectTcp, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { guardedOn } from '../../http/guarded.ts';
import { Connection } from './connection.ts';
import { UpstreamTimeout } from './errors.ts';
import type { ConnectionParts } from './hand-overs.ts';
import { readBytes, ReadBuffer } from './response-parser.ts';
import type { ConnectionOwner, PooledConnection, ResponseHandler } from './upstream-client.ts';

/** Verification of an `https:` upstream, and the gateway's own certificate for it. */
export interface UpstreamTls {
  readonly rejectUnauthorized: true;
  /** Name to send and to verify; empty for an address, which is verified as such (RFC 6066 §3). */
  readonly servername: string;
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Address of an upstream. */
export interface Address {
  /** Unused if there is a socket path. */
  readonly origin: URL;
  readonly socketPath: string | null;
  readonly tls: UpstreamTls;
}

/** A connection in the making. */
export interface Connecting {
  readonly socket: Socket;
  /** Event after which the connection can be used. An earlier failure is an `error` of the socket. */
  readonly ready: 'connect' | 'secureConnect';
}

/** Options of a connection. */
export interface Use {
  readonly onread?: OnReadOpts;
  /** Whether each direction ends separately. */
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

/**
 * Makes connections to one upstream for a pool. A TLS connection resumes the session of an earlier one.
 *
 * @param connectMs limit on making a connection
 * @param parts of all its connections
 * @see PoolOptions.connect
 */
export function connector(
  address: Address,
  connectMs: number,
  parts: Pick<ConnectionParts, 'handOvers' | 'report'>,
) {
  const { host } = address.origin;
  /** @see ReadBuffer */
  const shared = Buffer.allocUnsafeSlow(readBytes);
  let session: Buffer | undefined;
  return (
    owner: ConnectionOwner<ResponseHandler>,
    done: (made: PooledConnection<ResponseHandler> | Error) => void,
  ): (() => void) => {
    const reading = new ReadBuffer(shared);
    const { socket, ready } = openConnection(address, { onread: reading.onread, session });
    const renewed = (latest: Buffer): void => void (session = latest);
    socket.on('session', guardedOn(socket, renewed));
    // The failure may mean that the upstream rejects the session, so the next connection has none.
    const rejected = (): void => void (session = undefined);
    socket.on('error', guardedOn(socket, rejected));
    let over = false;
    const settle = (made: Connection | Error): void => {
      clearTimeout(timer);
      if (over) return;
      over = true;
      done(made);
    };
    const late = guardedOn(socket, () => void socket.destroy(new UpstreamTimeout('accept a connection')));
    const timer = setTimeout(late, connectMs);
    const made = (): void => settle(new Connection(socket, reading, { host, owner, ...parts }));
    const closed = (): void => settle(new Error('the upstream closed the connection'));
    socket.once(ready, guardedOn(socket, made));
    socket.once('error', guardedOn(socket, settle));
    socket.once('close', guardedOn(socket, closed));
    return () => socket.destroy();
  };
}
