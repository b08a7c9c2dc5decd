import { connect as connectTcp, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { guardedOn } from '../../http/guarded.ts';
import { systemTimers, type Timers } from '../../ports/timers.ts';
import { Connection } from './connection.ts';
import { UpstreamTimeout } from './errors.ts';
import type { ConnectionParts } from './hand-overs.ts';
import type { Lookup } from './names.ts';
import { ReadBuffer, type ReadBuffers } from './read-buffers.ts';
import type { ConnectionOwner, PooledConnection } from './upstream-client.ts';

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
  /** Looks up the host name of `origin`. */
  readonly lookup: Lookup;
}

/** Options of a connection. */
export interface Use {
  readonly onread?: OnReadOpts;
  /** Whether each direction of the connection can end on its own. */
  readonly allowHalfOpen?: boolean;
  /** TLS session of an earlier connection. */
  readonly session?: Buffer | undefined;
}

/**
 * Opens a connection to an upstream, and verifies its certificate.
 *
 * @param connectMs maximum number of milliseconds for that
 * @param done called once: when the connection can be used, or with the error if it failed before that
 */
export function dial(
  { origin, socketPath, tls, lookup }: Address,
  { session, ...use }: Use,
  connectMs: number,
  timers: Timers,
  done: (error: Error | null) => void,
): Socket {
  const secure = origin.protocol === 'https:';
  let forget = (): unknown => undefined;
  const tcp = {
    host: origin.hostname.replace(/^\[|\]$/g, ''),
    port: origin.port === '' ? (secure ? 443 : 80) : Number(origin.port),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    lookup: (...asked: Parameters<Lookup>) => void (forget = lookup(...asked)),
    ...use,
  };
  const resumed = session === undefined ? {} : { session };
  const socket = secure
    ? connectTls({ ...tcp, ...tls, ...resumed, ALPNProtocols: ['http/1.1'] })
    : connectTcp(socketPath === null ? tcp : { path: socketPath, ...use });
  let over = false;
  const settle = guardedOn(socket, (error: Error | null) => {
    callOff();
    forget();
    if (over) return;
    done(error);
    // If the call throws, the socket breaks, and the next call says so.
    over = true;
  });
  const late = guardedOn(socket, () => void socket.destroy(new UpstreamTimeout('accept a connection')));
  const callOff = timers.after(connectMs, late);
  const made = guardedOn(socket, () => settle(null));
  const closed = guardedOn(socket, () => settle(new Error('the upstream closed the connection')));
  socket.once(secure ? 'secureConnect' : 'connect', made);
  socket.once('error', settle);
  socket.once('close', closed);
  return socket;
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
  return (owner: ConnectionOwner, done: (made: PooledConnection | Error) => void): (() => void) => {
    const reading = new ReadBuffer(buffers);
    const use = { onread: reading.onread, session };
    const socket = dial(address, use, connectMs, timers, (error) =>
      done(error ?? new Connection(socket, reading, { host, owner, ...parts })),
    );
    const renewed = (latest: Buffer): void => void (session = latest);
    socket.on('session', guardedOn(socket, renewed));
    // The upstream may have rejected the session, so the next connection starts without one.
    const rejected = (): void => void (session = undefined);
    socket.prependListener('error', guardedOn(socket, rejected));
    return () => socket.destroy();
  };
}
