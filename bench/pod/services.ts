/** The service behind the gateway, as a process of its own: a port is its only output, and the end of its input ends it. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const piece = Buffer.alloc(65_536, 'x');
/** A frame of 64 KB, and one that says `here`. */
const [longFrame, here] = [
  Buffer.concat([Buffer.from([0x82, 126, 0xff, 0xff]), Buffer.alloc(65_535)]),
  Buffer.from('\x81\x04here', 'latin1'),
];

const server = createServer((request, response) => {
  request.on('error', () => undefined);
  if (request.url === '/sink') return void request.resume();
  if (request.url !== '/endless') return void response.end('ok');
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', write);
  write();
});

server.on('upgrade', (request, socket: Duplex) => {
  const key = request.headers['sec-websocket-key'] ?? '';
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.on('error', () => undefined);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  if (request.url === '/ws/answers') socket.on('data', () => socket.write(here));
  else socket.resume();
  if (request.url !== '/ws/flood') return;
  const write = (): void => {
    while (!socket.destroyed && socket.write(longFrame));
  };
  socket.on('drain', write);
  write();
});

server.on('connection', (socket: Socket) => socket.setNoDelay(true).on('error', () => undefined));
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.stdin.resume().once('close', () => process.exit());
