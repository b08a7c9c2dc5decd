/** The service behind the gateways of the matrix: it says what it saw, echoes WebSockets, and sends events one by one. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Scope } from '../../support/servers.ts';

/** What `/echo` responds with. */
export interface Seen {
  readonly method: string;
  readonly target: string;
  /** By name in lower case, every value. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly bytes: number;
  readonly sha256: string;
}

/** A conversation's end, as the service saw it. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** An event stream that waits to be told to go on. */
export interface EventStream {
  readonly headers: IncomingMessage['headers'];
  readonly lastEventId: string | undefined;
  write(text: string): void;
  end(): void;
}

export interface ClientUpstream {
  readonly url: string;
  /** How the conversation at this path ended. */
  closed(path: string): Promise<Closed>;
  /** The next stream that is opened at this path. */
  stream(path: string): Promise<EventStream>;
}

/** Body of the 413 that `/refuse` responds with, without reading what comes. */
export const refusal = '{"error":"too large for this service"}';

export async function startClientUpstream(t: Scope): Promise<ClientUpstream> {
  const [conversations, streams] = [new Mailbox<Closed>(), new Mailbox<EventStream>()];
  const server = createServer((request, response) => {
    const { url = '' } = request;
    if (url.startsWith('/events/')) streams.put(url, eventStream(request, response));
    else if (url === '/no-content') response.writeHead(204).end();
    else if (url === '/refuse') refuse(response);
    else void echo(request, response);
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: true });
  sockets.on('connection', (socket, { url = '' }) =>
    converse(socket, (closed) => conversations.put(url, closed)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    closed: (path) => conversations.take(path),
    stream: (path) => streams.take(path),
  };
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch {
    return; // The client has gone.
  }
  const headers = Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values]) => [name, values ?? []]),
  );
  const { method = '', url: target = '' } = request;
  const seen: Seen = { method, target, headers, bytes, sha256: hash.digest('hex') };
  const body = JSON.stringify(seen);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function refuse(response: ServerResponse): void {
  response.writeHead(413, {
    'content-type': 'application/json',
    'content-length': refusal.length,
    connection: 'close',
  });
  response.end(refusal);
}

function eventStream(request: IncomingMessage, response: ServerResponse): EventStream {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
  const lastEventId = request.headers['last-event-id'];
  return {
    headers: request.headers,
    lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
    write: (text) => void response.write(text),
    end: () => void response.end(),
  };
}

/** Echoes; a text `close CODE REASON` closes with that instead. */
function converse(socket: WebSocket, ended: (closed: Closed) => void): void {
  socket.on('error', () => undefined);
  socket.on('message', (data: Buffer, isBinary) => {
    const [, code, reason] = isBinary ? [] : (/^close (\d+) (.*)/.exec(data.toString()) ?? []);
    socket.send(data, { binary: isBinary });
    if (code !== undefined) socket.close(Number(code), reason);
  });
  socket.on('close', (code, reason) => ended({ code, reason: reason.toString() }));
}

/** Things by path, and those who wait for them. */
class Mailbox<Thing> {
  readonly #boxes = new Map<string, { things: Thing[]; waiting: ((thing: Thing) => void)[] }>();

  put(path: string, thing: Thing): void {
    const { things, waiting } = this.#box(path);
    const next = waiting.shift();
    if (next === undefined) things.push(thing);
    else next(thing);
  }

  take(path: string): Promise<Thing> {
    const { things, waiting } = this.#box(path);
    const [first] = things.splice(0, 1);
    return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
  }

  #box(path: string): { things: Thing[]; waiting: ((thing: Thing) => void)[] } {
    const box = this.#boxes.get(path) ?? { things: [], waiting: [] };
    this.#boxes.set(path, box);
    return box;
  }
}
