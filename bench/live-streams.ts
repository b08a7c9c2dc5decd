/**
 * What clients cost that keep their connections: memory of the gateway while clients stand still in the middle of large
 * downloads and uploads, and memory and processor time while event streams and WebSockets are open and silent.
 *
 *     npm run bench:streams -- [--clients 200] [--streams 1000] [--seconds 30] [--cores 0,1]
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocketServer } from 'ws';
import { gateway } from './targets/gateway.ts';
import type { Running } from './targets/target.ts';
import { ownNode } from './lib/node-runtime.ts';
import { usageOf } from './lib/proc.ts';
import { Processes } from './lib/processes.ts';
import { inventTenants } from './lib/tenants.ts';
import { get, headersOf } from './load/requests.ts';
import { describeMachine, machineLine, quietLoad } from './machine.ts';
import { table } from './report/tables.ts';

/** Of a body; more than all buffers between the two ends hold. */
const bodyBytes = 1024 * 1024 * 1024;
const piece = Buffer.alloc(64 * 1024, 'x');
/** How long what just opened may go on moving, and what just closed may take to be forgotten. */
const settlingMs = 3_000;
const reportEveryMs = 5_000;

/** Clients that open a connection each and then stay. */
interface Kind {
  readonly title: string;
  readonly count: number;
  /** The request, up to its end or to where the client stops. */
  readonly text: string;
  /** Whether the client reads the response. */
  readonly reads: boolean;
  /** Whether the client goes on sending until nothing more is taken. */
  readonly sends: boolean;
}

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '200' },
    streams: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '30' },
    cores: { type: 'string', default: '0,1' },
  },
});
const [proxyCore = 0, otherCore = 1] = values.cores.split(',').map(Number);
await main();

async function main(): Promise<void> {
  const missing = gateway.missing();
  if (missing !== undefined) throw new Error(`There is nothing to measure: ${missing}`);
  const machine = describeMachine();
  say(machineLine(machine));
  if (machine.load > quietLoad) say('WARNING: this machine is busy; what follows is noisy at best.');
  const dir = mkdtempSync(join(tmpdir(), 'tenancy-gateway-live-'));
  const processes = new Processes(dir);
  const upstream = await startUpstream();
  try {
    const environment = { processes, dir, upstreamPort: upstream.port, proxyCore, otherCore, node: ownNode };
    const running = await gateway.start({ ...environment, tenants: inventTenants() });
    const rows: string[][] = [];
    for (const kind of kindsFor(running)) rows.push(await measure(kind, running));
    await running.stop();
    say(table(['', 'clients', 'MB before', 'MB during', 'KB a client', 'CPU %', 'MB after'], rows));
  } finally {
    upstream.close();
    await processes.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

function kindsFor(running: Running): readonly Kind[] {
  const [clients, streams] = [Number(values.clients), Number(values.streams)];
  const head = (method: string, path: string, more = ''): string => {
    const headers = Object.entries(headersOf(running, { ...get(path), acting: method === 'POST' }));
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return `${method} ${path} HTTP/1.1\r\nHost: gateway\r\n${lines}${more}\r\n`;
  };
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  const upload = head('POST', '/deaf', `Content-Length: ${bodyBytes}\r\n`);
  return [
    { title: 'stalled downloads', count: clients, text: head('GET', '/large'), reads: false, sends: false },
    { title: 'stalled uploads', count: clients, text: upload, reads: true, sends: true },
    {
      title: 'silent event streams',
      count: streams,
      text: head('GET', '/events'),
      reads: true,
      sends: false,
    },
    {
      title: 'silent WebSockets',
      count: streams,
      text: head('GET', '/', upgrade),
      reads: true,
      sends: false,
    },
  ];
}

async function measure(kind: Kind, { port, proxyPids }: Running): Promise<string[]> {
  const seconds = Number(values.seconds);
  const before = usageOf(proxyPids);
  say(`\n${kind.count} ${kind.title}: ${megabytes(before.rssBytes)} MB before`);
  const sockets: Socket[] = [];
  for (let i = 0; i < kind.count; i++) sockets.push(await open(port, kind));
  await sleep(settlingMs);
  const start = usageOf(proxyPids);
  const began = performance.now();
  let most = start.rssBytes;
  while (performance.now() - began < seconds * 1_000) {
    await sleep(Math.min(reportEveryMs, seconds * 1_000));
    const { rssBytes } = usageOf(proxyPids);
    most = Math.max(most, rssBytes);
    say(`  ${Math.round((performance.now() - began) / 1_000)} s: ${megabytes(rssBytes)} MB`);
  }
  const cpuShare = (usageOf(proxyPids).cpuMs - start.cpuMs) / (performance.now() - began);
  const lasting = sockets.filter((socket) => !socket.destroyed).length;
  if (lasting < kind.count) say(`  WARNING: ${kind.count - lasting} connections did not last`);
  for (const socket of sockets) socket.destroy();
  await sleep(settlingMs);
  const after = usageOf(proxyPids);
  say(`  ${megabytes(after.rssBytes)} MB after`);
  return [
    kind.title,
    String(kind.count),
    megabytes(before.rssBytes),
    megabytes(most),
    ((most - before.rssBytes) / 1_024 / kind.count).toFixed(1),
    (100 * cpuShare).toFixed(1),
    megabytes(after.rssBytes),
  ];
}

async function open(port: number, { text, reads, sends }: Kind): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  if (sends) {
    const more = (): void => {
      while (socket.writable && socket.write(piece));
    };
    socket.on('drain', more);
    more();
  }
  if (reads && !sends) await once(socket, 'data');
  if (reads) socket.resume();
  else socket.pause();
  return socket;
}

/** Sends without end, reads nothing, or says hello and falls silent, as it is asked to. */
async function startUpstream(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((request, response) => {
    if (request.url === '/large') return sendAll(response);
    if (request.url === '/deaf') return void request.pause();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: hello\n\n');
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket) => socket.on('error', () => undefined).send('hello'));
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

function sendAll(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': bodyBytes });
  let left = bodyBytes;
  const more = (): void => {
    while (left > 0) {
      left -= piece.length;
      if (!response.write(piece)) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
}

function megabytes(bytes: number): string {
  return (bytes / 1_024 / 1_024).toFixed(0);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
