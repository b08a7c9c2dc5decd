/** Upstreams that say what they believe to have received, each a reader of its own making. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { oddProxies } from '../../../support/odd-proxies.ts';
import type { Scope } from '../../../support/servers.ts';
import type { Fields } from '../strict-head.ts';
import { readRequests } from '../strict.ts';
import { kinds, type Kind } from './case.ts';
import type { Witness } from './sighting.ts';

export interface Upstreams {
  /** URLs of those that could be started. */
  readonly urls: ReadonlyMap<Kind, string>;
  /** Names of those that this machine does not have. */
  readonly missing: readonly string[];
}

/** @param onFault a request that is none came to the upstream that reads strictly */
export async function startUpstreams(
  t: Scope,
  witness: Witness,
  onFault: (fault: string) => void,
): Promise<Upstreams> {
  const urls = new Map<Kind, string>();
  const missing: string[] = [];
  urls.set('e', await startNode(t, 'e', witness));
  urls.set('b', await startStrict(t, witness, onFault));
  for (const [kind, proxy] of [
    ['n', oddProxies.nginx],
    ['h', oddProxies.haproxy],
  ] as const) {
    if (proxy.program === undefined) missing.push(kinds[kind]);
    else urls.set(kind, await proxy.start(t, await startNode(t, kind, witness)));
  }
  return { urls, missing };
}

/** node:http, as services in Node have it. */
async function startNode(t: Scope, kind: Kind, witness: Witness): Promise<string> {
  const see = (request: IncomingMessage, body: Buffer): string =>
    witness({
      kind,
      method: request.method ?? '',
      target: request.url ?? '',
      fields: pairs(request.rawHeaders),
      body: body.toString('latin1'),
    });
  const listener: RequestListener = (request, response) => {
    buffer(request).then((body) => {
      response.setHeader('X-Seen', see(request, body));
      response.end('seen');
    }, ignore);
  };
  const server = createServer(
    { maxHeaderSize: 128 * 1024, keepAliveTimeout: 120_000, requireHostHeader: false },
    listener,
  );
  server.maxHeadersCount = 0;
  const reject = (request: IncomingMessage, socket: Socket | NodeJS.WritableStream): void => {
    socket.on('error', ignore);
    const id = see(request, Buffer.alloc(0));
    socket.end(`HTTP/1.1 400 Bad Request\r\nX-Seen: ${id}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  };
  server.on('upgrade', reject).on('connect', reject);
  return listen(t, server);
}

/** A reader that takes nothing which RFC 9112 does not allow. */
function startStrict(t: Scope, witness: Witness, onFault: (fault: string) => void): Promise<string> {
  const server = createTcpServer({ noDelay: true }, (socket) => {
    let text = '';
    socket.on('error', ignore);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const { requests, rest, end } = readRequests(text);
      if (rest === 'malformed') {
        onFault(`an upstream was sent what is no request: ${JSON.stringify(text.slice(end, end + 500))}`);
        return socket.destroy();
      }
      text = text.slice(end);
      for (const { method, target, fields, body } of requests) {
        const id = witness({ kind: 'b', method, target, fields, body });
        const content = method === 'HEAD' ? '' : 'seen';
        socket.write(`HTTP/1.1 200 OK\r\nX-Seen: ${id}\r\nContent-Length: 4\r\n\r\n${content}`);
      }
      if (rest === 'opaque') socket.end();
    });
  });
  return listen(t, server);
}

async function listen(t: Scope, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function pairs(rawHeaders: readonly string[]): Fields {
  return rawHeaders.flatMap((name, i) =>
    i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1] ?? ''] as const] : [],
  );
}

function ignore(): void {
  /* The client's side tells what became of it. */
}
