import { connect as connectTcp, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { guardedOn } from '../../http/guarded.ts';
import { systemTimers, type Timers } from '../../ports/timers.ts';
import { Connection } from './connection.ts';
import { UpstreamTimeout } from './errors.ts';
import type { ConnectionParts } from './hand-overs.ts';
import { ReadBuffer, type ReadBuffers } from './read-buffers.ts';
import type { ConnectionOwner, PooledConnection, ResponseHandler } from './upstream-client.ts';

/**
 * TLS settings for an `https:` upstream: how to verify its certificate, and the certificate that the gateway presents
 * to it.
 */
export interface UpstreamTls {
  readonly rejectUnauthorized: true;
  /**
   * Host name to send in the TLS handshake and to verify in the upstream's certificate. If the upstream's URL has an IP
   * address and no name is configured, the name is empty (RFC 6066 §3), and the address is verified.
   */
  readonly servername: string;
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Address of an upstream. */
export interface Address {
  /** URL of the upstream. If there is a `socketPath`, this URL is `http://localhost` and only sets `Host`. */
  readonly origin: URL;
  readonly socketPath: string | null;
  readonly tls: UpstreamTls;
}

/** A connection that is being opened. */
export interface Connecting {
  readonly socket: Socket;
  /** Event after which the connection can be used. If the connection fails before that, the socket emits `error`. */
  readonly ready: 'connect' | 'secureConnect';
}

/** Options of a connection. */
export interface Use {
  readonly onread?: OnReadOpts;
  /** Whether each direction of the connection can end on its own. */
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
 * Creates the function that a pool uses to open connections to one upstream. Each new TLS connection resumes the TLS
 * session of an earlier connection, if there is one.
 *
 * @param connectMs maximum number of milliseconds for opening a connection
 * @param parts dependencies that all connections to the upstream share
 * @see PoolOptions.connect
 */
export function connector(
  address: Address,
  connectMs: number,
  {
    buffers,
    timers = systemTimers,
    ...parts
  }: Pick<ConnectionParts, 'handOvers' | 'report'> & {
    readonly buffers: ReadBuffers;
    readonly timers?: Timers;
  },
) {
  const { host } = address.origin;
  let session: Buffer | undefined;
  return (
    owner: ConnectionOwner<ResponseHandler>,
    done: (made: PooledConnection<ResponseHandler> | Error) => void,
  ): (() => void) => {
    const reading = new ReadBuffer(buffers);
    const { socket, ready } = openConnection(address, { onread: reading.onread, session });
    const renewed = (latest: Buffer): void => void (session = latest);
    socket.on('session', guardedOn(socket, renewed));
    // The upstream may have rejected the session, so the next connection starts without one.
    const rejected = (): void => void (session = undefined);
    socket.on('error', guardedOn(socket, rejected));
    let over = false;
    const settle = (made: Connection | Error): void => {
      callOff();
      if (over) return;
      over = true;
      done(made);
    };
    const late = guardedOn(socket, () => void socket.destroy(new UpstreamTimeout('accept a connection')));
    const callOff = timers.after(connectMs, late);
    const made = (): void => settle(new Connection(socket, reading, { host, owner, ...parts }));
    const closed = (): void => settle(new Error('the upstream closed the connection'));
    socket.once(ready, guardedOn(socket, made));
    socket.once('error', guardedOn(socket, settle));
    socket.once('close', guardedOn(socket, closed));
    return () => socket.destroy();
  };
}
