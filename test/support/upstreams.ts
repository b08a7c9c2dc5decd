/** Real upstreams for tests of the gateway: one that notes what it gets, and one that says exactly what it is told to. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Scope } from './servers.ts';

/** A request as an upstream got it. */
export interface Received {
  readonly method: string;
  /** The target as it came. */
  readonly target: string;
  /** Names and values alternating, as they came. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Every value of a header, by exact name in any case. */
  readonly values: (name: string) => string[];
}

export interface Upstream {
  readonly url: string;
  readonly port: number;
  /** Requests that came in whole, in order. */
  readonly received: Received[];
  /** Requests whose head came in. */
  heads: number;
  connections: number;
}

/** A server of Node's. By default it responds with what it got; `handler` may do something else, once the body is in. */
export async function startUpstream(
  t: Scope,
  handler: (request: Received, response: ServerResponse) => void = echo,
  listening: { readonly path?: string } = {},
): Promise<Upstream> {
  return startRawUpstream(
    t,
    (upstream) => (request, response) => {
      void buffer(request).then((body) => {
        const received = describe(request, body);
        upstream.received.push(received);
        handler(received, response);
      }, ignore);
    },
    listening,
  );
}

/** The same, for tests that want the request as it arrives. */
export async function startRawUpstream(
  t: Scope,
  listener: (upstream: Upstream) => RequestListener,
  listening: { readonly path?: string } = {},
): Promise<Upstream> {
  const upstream: Mutable<Upstream> = { url: '', port: 0, received: [], heads: 0, connections: 0 };
  const listen = listener(upstream);
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    upstream.heads += 1;
    listen(request, response);
  });
  server.on('connection', () => (upstream.connections += 1));
  // Newer versions of Node reject more than a thousand headers, older ones leave out the others.
  server.maxHeadersCount = 0;
  await new Promise<void>((resolve) => {
    if (listening.path === undefined) server.listen(0, '127.0.0.1', resolve);
    else server.listen(listening.path, resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  if (listening.path !== undefined) return Object.assign(upstream, { url: `unix:${listening.path}` });
  const { port } = server.address() as AddressInfo;
  return Object.assign(upstream, { url: `http://127.0.0.1:${port}`, port });
}

/** A server that hands over each connection once the head of a request has come in on it. */
export async function startTcpUpstream(
  t: Scope,
  onHead: (socket: Socket, head: string, rest: string) => void,
): Promise<{ readonly url: string; readonly port: number; connections: number; heads: number }> {
  const sockets = new Set<Socket>();
  const upstream = { url: '', port: 0, connections: 0, heads: 0 };
  const server = createTcpServer((socket) => {
    upstream.connections += 1;
    sockets.add(socket);
    socket.on('error', ignore).on('close', () => sockets.delete(socket));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      upstream.heads += 1;
      const [head, rest] = [text.slice(0, end + 4), text.slice(end + 4)];
      text = '';
      onHead(socket, head, rest);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(upstream, { url: `http://127.0.0.1:${port}`, port });
}

function echo(request: Received, response: ServerResponse): void {
  const body = JSON.stringify({
    method: request.method,
    target: request.target,
    rawHeaders: request.rawHeaders,
    body: request.body.toString('latin1'),
  });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function describe(request: IncomingMessage, body: Buffer): Received {
  const { method = '', url: target = '', rawHeaders } = request;
  return {
    method,
    target,
    rawHeaders,
    body,
    values: (name) =>
      rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name.toLowerCase()),
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function ignore(): void {
  /* The test looks at the other end. */
}
