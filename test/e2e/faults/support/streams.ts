/**
 * Streams that pass bytes all the time, through every replica: a WebSocket, an upload whose response has begun, an event stream
 * and a long response.
 */
import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';

/** Milliseconds between two pieces in each direction. */
const everyMs = 100;

const accept = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

/** Sends one piece after the other, until the connection is over. */
function keepSending(socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.write(piece, 'latin1'), everyMs);
  socket.on('error', () => undefined).on('close', () => clearInterval(timer));
}

/** Where a piece of a stream arrived: its kind, and whose it was. */
export type Arrival = `${(typeof kinds)[number]} to the ${'service' | 'client'}`;

/** Kinds of streams. A kind is the second segment of a stream's path. */
const kinds = ['websocket', 'upload', 'events', 'response'] as const;

/** Every arrival there is: the last two kinds have no bytes for the service. */
export const arrivals: readonly Arrival[] = [
  ...kinds.map((kind) => `${kind} to the client` as const),
  ...(['websocket to the service', 'upload to the service'] as const),
];

/** Who is told of each piece that reaches a service or a client. The name of the streams is the last segment of their path. */
export type Passed = Map<string, (at: Arrival) => void>;

/** Has a service take and send such streams under `/streams/`. */
export function serveStreams(server: Server, passed: Passed): void {
  const noted = (url = ''): (() => void) => {
    const [kind, name = ''] = url.split('/').slice(-2) as [(typeof kinds)[number], string];
    return () => passed.get(name)?.(`${kind} to the service`);
  };
  server.on('upgrade', ({ url, headers }, socket: Socket) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${accept(String(headers['sec-websocket-key']))}\r\n\r\n`,
    );
    socket.on('data', noted(url));
    keepSending(socket, '\x81\x02hi');
  });
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/streams/') !== true) return;
    request.on('data', noted(request.url)).on('error', () => undefined);
    const isEvents = request.url.startsWith('/streams/events/');
    response.writeHead(200, { 'content-type': isEvents ? 'text/event-stream' : 'application/octet-stream' });
    const timer = setInterval(() => response.write(isEvents ? 'data: x\n\n' : 'x'), everyMs);
    response.on('close', () => clearInterval(timer));
  });
}

/** Opens all kinds through one gateway. Each piece that comes is told to `passed`. */
export function openStreams(port: number, key: string, name: string, passed: Passed): void {
  const ends: Readonly<Record<(typeof kinds)[number], readonly [string, string, string?]>> = {
    websocket: [
      'GET',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
      '\x81\x82\0\0\0\0hi',
    ],
    upload: ['POST', 'Transfer-Encoding: chunked\r\n', '1\r\nx\r\n'],
    events: ['GET', ''],
    response: ['GET', ''],
  };
  for (const kind of kinds) {
    const [method, headers, piece] = ends[kind];
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `${method} /streams/${kind}/${name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${headers}\r\n`,
    );
    socket.once('data', (chunk: Buffer) => {
      const isOpen = /^HTTP\/1\.1 (?:101|200) /.test(chunk.toString('latin1'));
      if (!isOpen) return socket.destroy();
      // A close frame of the gateway's own says that it is over.
      socket.on('data', (more: Buffer) =>
        more[0] === 0x88 ? undefined : passed.get(name)?.(`${kind} to the client`),
      );
      return undefined;
    });
    if (piece === undefined) socket.on('error', () => undefined);
    else keepSending(socket, piece);
  }
}
