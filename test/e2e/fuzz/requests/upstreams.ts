/** Upstreams that say what they believe to have received, each a reader of its own making. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/process.ts';
import type { Scope } from '../../../support/servers.ts';
import { unusedPort } from '../../../support/unused-port.ts';
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
  for (const [kind, start] of [
    ['n', startNginx],
    ['h', startHaproxy],
  ] as const) {
    const program = ['/usr/sbin', '/usr/local/sbin', '/usr/bin', '/opt/homebrew/bin']
      .map((folder) => join(folder, kinds[kind]))
      .find((file) => existsSync(file));
    if (program === undefined) missing.push(kinds[kind]);
    else urls.set(kind, await start(t, program, await startNode(t, kind, witness)));
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

/** nginx with all its readiness to pass on what is odd, and its own reading of the path in a header. */
async function startNginx(t: Scope, program: string, origin: string): Promise<string> {
  const folder = tempFolder(t);
  const port = await unusedPort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const name of temporary) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors crit;
    events { worker_connections 4096; }
    http {
      access_log off; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
      underscores_in_headers on; ignore_invalid_headers off; client_max_body_size 0;
      large_client_header_buffers 8 64k; keepalive_requests 1000000; keepalive_timeout 120s;
      upstream origin { server ${origin.slice('http://'.length)}; keepalive 64; keepalive_requests 1000000; }
      server {
        listen 127.0.0.1:${port} backlog=1024;
        location / {
          proxy_pass http://origin; proxy_http_version 1.1;
          proxy_set_header Host $http_host; proxy_set_header Connection "";
          proxy_set_header X-Nginx-Uri "$uri|";
        }
      }
    }`,
  );
  return run(t, program, ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'errors')], port);
}

async function startHaproxy(t: Scope, program: string, origin: string): Promise<string> {
  const folder = tempFolder(t);
  const port = await unusedPort();
  writeFileSync(
    join(folder, 'haproxy.cfg'),
    `global
  maxconn 4000
  tune.bufsize 65536
defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 120s
  retries 0
frontend clients
  bind 127.0.0.1:${port}
  http-request set-header X-Haproxy-Path %[path]|
  default_backend origin
backend origin
  server origin ${origin.slice('http://'.length)}
`,
  );
  return run(t, program, ['-db', '-f', join(folder, 'haproxy.cfg')], port);
}

async function run(t: Scope, program: string, args: readonly string[], port: number): Promise<string> {
  const child = spawn(program, args, { stdio: 'ignore' });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode !== null || !child.kill('SIGKILL')) return;
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    return (await fetch(`${url}/started`).catch(() => null)) !== null;
  });
  return url;
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
