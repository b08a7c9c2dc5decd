/** Streams that pass bytes both ways all the time, through every replica: a WebSocket, and an upload whose response has begun. */
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

/** Who is told of each piece that reaches a service or a client. The name of the streams is the last segment of their path. */
export type Passed = Map<string, () => void>;

/** Has a service take and send such streams under `/streams/`. */
export function serveStreams(server: Server, passed: Passed): void {
  const noted = (url = ''): (() => void) => {
    const name = url.slice(url.lastIndexOf('/') + 1);
    return () => passed.get(name)?.();
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
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    const timer = setInterval(() => response.write('x'), everyMs);
    response.on('close', () => clearInterval(timer));
  });
}

/** Opens both kinds through one gateway. Each piece that comes is told to `passed`. */
export function openStreams(port: number, key: string, name: string, passed: Passed): void {
  const head = `/streams/${name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  for (const [text, piece] of [
    [
      `GET ${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      '\x81\x82\0\0\0\0hi',
    ],
    [`POST ${head}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n'],
  ] as const) {
    const socket = connect(port, '127.0.0.1');
    socket.write(text);
    socket.once('data', (chunk: Buffer) => {
      const isOpen = /^HTTP\/1\.1 (?:101|200) /.test(chunk.toString('latin1'));
      if (!isOpen) return socket.destroy();
      // A close frame of the gateway's own says that it is over.
      socket.on('data', (more: Buffer) => (more[0] === 0x88 ? undefined : passed.get(name)?.()));
      return undefined;
    });
    keepSending(socket, piece);
  }
}
