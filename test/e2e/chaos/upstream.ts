/** An upstream with a path for each way in which a response can come. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import type { Scope } from '../../support/servers.ts';

export const part = 'x'.repeat(20_000);
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export interface ChaosUpstream {
  readonly url: string;
  /** Lets the response to the request with this id go on. */
  release(id: string): void;
  /** Closes the gateway's idle connections; resolves when the gateway has closed them too, and uses none any more. */
  closeIdle(): Promise<void>;
  /** Bytes of the body that came with the request of this id. */
  bytesOf(id: string): number;
}

type Serve = (request: IncomingMessage, response: ServerResponse, held: (rest: () => void) => void) => void;

const serving: Readonly<Record<string, Serve>> = {
  small: (_request, response) => void response.end('ok'),
  pieces: (_request, response) => {
    response.writeHead(200, { trailer: 'x-sum' });
    response.write(part);
    setImmediate(() => {
      response.addTrailers({ 'x-sum': '1' });
      response.end('end');
    });
  },
  hints: (_request, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => response.end('ok'));
  },
  large: (_request, response) => void response.end(part.repeat(400)),
  half: (_request, response, held) => {
    response.writeHead(200, { 'content-length': 2 * part.length }).write(part);
    held(() => response.end(part));
  },
  silent: (_request, response, held) => held(() => response.end('ok')),
  reset: (_request, response) => {
    response
      .writeHead(200, { 'content-length': 2 * part.length })
      .write(part, () => response.socket?.resetAndDestroy());
  },
  closed: (request) => void request.socket.destroy(),
  old: (request) => void request.socket.end('HTTP/1.0 200 OK\r\n\r\nold'),
  endless: (request) => void request.socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${part}`),
  malformed: (request) => void request.socket.end('HTTP/1.1 two hundred\r\n\r\n'),
  more: (request) =>
    void request.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 stray'),
  early: (request) => {
    request.pause();
    request.socket.write('HTTP/1.1 413 No\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno');
    void sleep(20).then(() => request.socket.resetAndDestroy());
  },
};

export async function startChaosUpstream(t: Scope): Promise<ChaosUpstream> {
  const held = new Map<string, () => void>();
  const bodies = new Map<string, Buffer[]>();
  const sockets = new Set<Socket>();
  const busy = new Set<Socket>();
  const bytesOf = (id: string): number => (bodies.get(id) ?? []).reduce((sum, { length }) => sum + length, 0);
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    busy.add(request.socket);
    response.once('close', () => busy.delete(request.socket));
    const { pathname, search } = new URL(request.url ?? '', 'http://upstream');
    const serve = serving[pathname.split('/').at(-1) ?? ''];
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    if (serve !== undefined) {
      if (serve !== serving['early']) request.resume();
      return serve(request, response, (rest) => held.set(search.slice(1), rest));
    }
    const body: Buffer[] = [];
    bodies.set(search.slice(1), body);
    request.on('data', (chunk: Buffer) => body.push(chunk));
    request.on('end', () => response.end(hashOf(Buffer.concat(body).toString())));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const webSockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    busy.add(request.socket);
    socket.on('error', () => undefined);
    const kind = request.url?.split('/').at(-1);
    if (kind === 'echo')
      return webSockets.handleUpgrade(request, socket, head, (one) => {
        one.on('error', () => undefined).on('message', (data, binary) => one.send(data, { binary }));
      });
    if (kind === 'refused-half') {
      socket.write(`HTTP/1.1 403 No\r\ncontent-length: ${2 * part.length}\r\n\r\n${part}`);
    } else if (kind === 'refused') {
      socket.end(`HTTP/1.1 403 No\r\ncontent-length: ${part.length}\r\n\r\n${part}`);
    } else if (kind !== 'silent') socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of webSockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release(id) {
      held.get(id)?.();
      held.delete(id);
      bodies.delete(id);
    },
    bytesOf,
    async closeIdle() {
      const idle = [...sockets].filter((socket) => !busy.has(socket));
      await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('close', resolve).end())));
    },
  };
}
