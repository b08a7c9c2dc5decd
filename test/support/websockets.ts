/** WebSocket ends for tests of upgrades. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer, type ClientOptions, type ServerOptions } from 'ws';
import { authorizationOf } from './credential-forms.ts';
import { eventually } from './eventually.ts';
import { rawClient, requestText, type RawClient } from './raw-client.ts';
import type { Scope } from './servers.ts';

export interface WebSocketUpstream {
  readonly url: string;
  readonly port: number;
  /** Handshakes, as they came. */
  readonly handshakes: IncomingMessage[];
  readonly sockets: WebSocket[];
}

/** An upstream that sends every message back, or does as `serve` says. */
export async function startWebSocketUpstream(
  t: Scope,
  serve: (socket: WebSocket) => void = echo,
  options: Omit<ServerOptions, 'host' | 'port'> = {},
): Promise<WebSocketUpstream> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, ...options });
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const upstream: WebSocketUpstream = { url: `http://127.0.0.1:${port}`, port, handshakes: [], sockets: [] };
  server.on('connection', (socket, request) => {
    upstream.handshakes.push(request);
    upstream.sockets.push(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  t.teardown(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return upstream;
}

function echo(socket: WebSocket): void {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
}

export interface WebSocketClient {
  readonly socket: WebSocket;
  /** Messages that came in, as text. */
  readonly messages: string[];
  /** Set once it is closed. */
  readonly closed: { code: number; reason: string } | null;
}

/** Opens a WebSocket through the gateway. Rejects with the status where there is a response instead. */
export async function openWebSocket(
  t: Scope,
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  protocols: string[] = [],
  options: ClientOptions = {},
): Promise<WebSocketClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers, ...options });
  const client = { socket, messages: [] as string[], closed: null as WebSocketClient['closed'] };
  t.teardown(() => socket.terminate());
  socket.on('message', (data) => client.messages.push((data as Buffer).toString()));
  socket.on('close', (code, reason) => (client.closed = { code, reason: reason.toString() }));
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, response) =>
      reject(new Error(`status ${response.statusCode}`)),
    );
  });
  return client;
}

/** Opens a WebSocket through the gateway, and finds its other end at the upstream. */
export async function openEnds(
  t: Scope,
  { sockets }: WebSocketUpstream,
  port: number,
  key: string,
): Promise<{ readonly client: WebSocket; readonly server: WebSocket }> {
  const before = sockets.length;
  const { socket: client } = await openWebSocket(t, port, '/', bearer(key));
  await eventually(() => sockets.length > before);
  return { client, server: sockets.at(-1) as WebSocket };
}

/** The header with which {@link openWebSocket} sends an API key. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** The headers of a request for a WebSocket, for what sends raw requests. */
export function handshake(key: string): [string, string][] {
  return [
    ['Authorization', authorizationOf(key)],
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Version', '13'],
    ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ];
}

/** An upstream's consent to {@link handshake}. */
export const consent =
  'HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n';

/** A connection on which the upstream has just consented. */
export async function rawWebSocket(t: Scope, port: number, key: string): Promise<RawClient> {
  const client = await rawClient(t, port);
  client.send(requestText('GET', '/', handshake(key)));
  await client.until(() => client.text.endsWith('\r\n\r\n'));
  return client;
}
