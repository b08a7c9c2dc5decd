/**
 * What each thing that a stranger, a client without a key, may ask for costs a gateway: bytes, and CPU of its process. Each is sent one
 * after the other, on a connection of its own unless the response keeps it. Requests are logged, as by default.
 *
 *     npm run bench:strangers -- [--requests 300] [--rounds 3] [--cores 0,1] [--against REVISION]
 *
 * `--against` measures another build of the gateway, too: a revision, a folder or a main.js. The round that cost least counts.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { parseArgs } from 'node:util';
import { certificate } from '../test/support/config-certificates.ts';
import { buildAgainst, buildHere, type Build } from './builds.ts';
import { inEnvironment, type Environment } from './environment.ts';
import { freePort } from './lib/free-port.ts';
import { startPostgres } from './lib/postgres-server.ts';
import { usageOf } from './lib/proc.ts';
import { unknownKey } from './lib/tenants.ts';
import { wholeResponse } from './lib/whole-response.ts';
import { describeMachine, machineLine, quietLoad } from './machine.ts';
import { table } from './report/tables.ts';
import { flagsOfImage } from './targets/gateway.ts';
import { ready } from './targets/seed.ts';

type Listener = 'public' | 'TLS' | 'portal' | 'internal';
/** Ports of a gateway, and the process behind each. */
type Gateway = Readonly<Record<Listener, { readonly port: number; readonly pid: number }>>;
/** `shaken`: after a TLS handshake; `cut`: away with the first byte of the response; `alone`: from a network of its own. */
type How = 'usual' | 'shaken' | 'cut' | 'alone';
/** A thing to ask for, where, and how. Without bytes the client only connects. */
type Kind = readonly [at: Listener, what: string, bytes: (() => string | Buffer) | null, how?: How];

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '3' },
    cores: { type: 'string', default: '0,1' },
    against: { type: 'string' },
  },
});
const requests = Number(values.requests);
/** Milliseconds in which a gateway does what is left when the last response has come. */
const restMs = 100;
const [proxyCore = 0, otherCore = 1] = values.cores.split(',').map(Number);
let networks = 0;
const linkOf = (link: string): string => JSON.stringify({ link });
const bearer = (token: string): string => `Authorization: Bearer ${token}`;
const cookie = (session: string): string => `Cookie: tenancy_gateway_session=${session}`;

await inEnvironment({ proxyCore, otherCore }, main);

async function main(environment: Environment): Promise<void> {
  const machine = describeMachine();
  say(machineLine(machine));
  if (machine.load > quietLoad) say('WARNING: this machine is busy; what follows is noisy at best.');
  const builds = [buildHere()];
  if (values.against !== undefined)
    builds.push(buildAgainst(values.against, join(environment.dir, 'against')));
  const hello = await clientHello();
  const started = [];
  for (const build of builds)
    started.push({ ...(await start(environment, build)), kinds: kindsOf(dirname(build.program), hello) });
  const rows = (started[0]?.kinds ?? []).map(([at, what]) => [`${at}: ${what}`]);
  for (const [row, cells] of rows.entries()) {
    const found: Awaited<ReturnType<typeof measured>>[][] = started.map(() => []);
    for (let round = 0; round < Number(values.rounds); round++)
      for (const [i, { gateway, kinds }] of started.entries())
        found[i]?.push(await measured(gateway, kinds[row] as Kind));
    const statuses = new Set(found.flat().map(({ status }) => status));
    cells.push([...statuses].join(', '), figure(found[0]?.[0]?.sent));
    for (const one of found)
      cells.push(figure(one[0]?.received), figure(Math.min(...one.map(({ us }) => us))));
  }
  for (const { stop } of started) await stop();
  const titles = builds.flatMap(({ title }) => [`${title}: received`, 'CPU µs']);
  say(table(['what', 'status', 'bytes sent', ...titles], rows));
}

function figure(value = NaN): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Starts a build over a PostgreSQL of its own: one process without TLS, one with it. */
async function start({ dir, processes, proxyCore: core, upstream }: Environment, { program }: Build) {
  const postgres = await startPostgres(process.env['TEST_POSTGRES_BIN'] ?? '');
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const to = { upstream: `http://127.0.0.1:${upstream.port}` };
  const routes = [
    { ...to, prefix: '/orders' },
    { ...to, prefix: '/shop', cors: { origins: ['https://app.example.com'] } },
    { ...to, prefix: '/bytes', preflight: 'pass' },
    { ...to, prefix: '/shipments', authentication: 'none', open_per_second: 1_000_000 },
  ];
  const logo_file = file(
    'a.svg',
    `<svg xmlns="http://www.w3.org/2000/svg"><!--${'x'.repeat(32_000)}--></svg>`,
  );
  const portal = { port: await freePort(), url: 'https://portal.example.com/', logo_file };
  const tls = { cert_file: file('a.crt', certificate.a.cert), key_file: file('a.pem', certificate.a.key) };
  const launch = async (listen: object, more: object) => {
    const [port, internal] = [await freePort(), await freePort()];
    const settings = { routes, listen: { port, ...listen }, internal: { port: internal }, ...more };
    const env = {
      NODE_ENV: 'production',
      CONFIG: file(`${port}.yaml`, JSON.stringify(settings)),
      DATABASE_URL: postgres.url,
      ADMIN_TOKEN: randomBytes(32).toString('hex'),
      USAGE_JOURNAL_DIR: join(dir, `${port}-usage`),
    };
    const args = [...flagsOfImage(program), program];
    const server = processes.start({ name: `${port}`, command: process.execPath, args, core, env });
    server.goFirst();
    await server.listening(internal);
    await ready(internal);
    return { port, internal, pid: server.pid, stop: () => server.stop() };
  };
  const [plain, secured] = [await launch({}, { portal }), await launch({ tls }, {})];
  const gateway: Gateway = {
    public: plain,
    TLS: secured,
    portal: { ...plain, port: portal.port },
    internal: { ...plain, port: plain.internal },
  };
  const stop = async (): Promise<void> => {
    await Promise.all([plain.stop(), secured.stop()]);
    await postgres.stop();
  };
  return { gateway, stop };
}

/** Everything that there is. @param dist folder of the build */
function kindsOf(dist: string, hello: Buffer): readonly Kind[] {
  // Before they had a MAC, secrets of sessions had 32 bytes. One of another length is refused by its form.
  const bytes = existsSync(join(dist, 'api/portal/secrets.js')) ? 32 : 48;
  const secret = (): string => randomBytes(bytes).toString('base64url');
  const [order, accounts] = ['GET /orders/17', 'GET /admin/v1/accounts'];
  const management = '/v1/sub-accounts';
  const preflight = ['Origin: https://app.example.com', 'Access-Control-Request-Method: GET'];
  const socket = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const redeem = ['Content-Type: application/json', `Content-Length: ${linkOf(secret()).length}`];
  const upload = Buffer.from(request('POST /orders', 'Content-Length: 1048576') + 'x'.repeat(1_048_576));
  return [
    ['public', 'a connection, no request', null],
    get('public', '/orders/17'),
    ['public', '… key with a wrong checksum', () => request(order, bearer(`${unknownKey().slice(0, -1)}!`))],
    ['public', '… key that nobody has', () => request(order, bearer(unknownKey()))],
    ['public', '… key of another format', () => request(order, bearer(`sk_live_${secret()}`))],
    ['public', '… path of 15,700 bytes', () => request(`GET /orders/${'x'.repeat(15_692)}`)],
    ['public', '… WebSocket', () => request(order, ...socket, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==')],
    [
      'public',
      '… POST, `Expect`',
      () => request('POST /orders', 'Content-Length: 9', 'Expect: 100-continue'),
    ],
    ['public', '… POST of 1 MiB', () => upload],
    ...['/unknown', '/orders/%2e%2e/17', management, `${management}/x/y`].map((path) => get('public', path)),
    ['public', `BREW ${management}`, () => request(`BREW ${management}`)],
    ['public', 'bytes that are no HTTP', () => 'no HTTP\r\n\r\n'],
    ['public', 'a head of 17 KB', () => request(order, `X-Long: ${'x'.repeat(17_000)}`)],
    ['public', 'preflight, answered', () => request('OPTIONS /shop/17', ...preflight)],
    ['public', 'preflight, passed on', () => request('OPTIONS /bytes/100', ...preflight)],
    ['public', 'open route', () => request('GET /shipments')],
    ...page('public', `${management}/docs`),
    get('public', `${management}/docs`, 'If-None-Match: *'),
    ...page('public', `${management}/openapi.json`),
    ['TLS', 'ClientHello, and away', () => hello, 'cut'],
    ['TLS', 'handshake', null, 'shaken'],
    ['TLS', `handshake, ${order}`, () => request(order), 'shaken'],
    ['TLS', 'bytes that are no TLS', () => request(order)],
    ...page('portal', '/'),
    ...page('portal', `/${largest(join(dist, 'portal/static'))}`),
    ...['/logo', '/brand.css', '/api/brand', '/x', '/api/session'].map((path) => get('portal', path)),
    ['portal', '… made-up token', () => request('GET /api/session', bearer(secret()))],
    ['portal', 'made-up link', () => request('POST /api/redeem', ...redeem) + linkOf(secret())],
    ...page('internal', '/console/'),
    ...page('internal', `/console/${largest(join(dist, 'console/static'))}`),
    ...page('internal', '/admin/v1/docs'),
    ...['/metrics', '/readyz', '/livez', '/x', '/admin/v1/accounts'].map((path) => get('internal', path)),
    ['internal', '… wrong token', () => request(accounts, bearer(secret())), 'alone'],
    ['internal', '… made-up cookie', () => request(accounts, cookie(secret())), 'alone'],
  ];
}

function request(line: string, ...headers: readonly string[]): string {
  return [`${line} HTTP/1.1`, 'Host: gateway', ...headers, '', ''].join('\r\n');
}

function get(at: Listener, path: string, ...headers: readonly string[]): Kind {
  return [at, [`GET ${path}`, ...headers].join(', '), () => request(`GET ${path}`, ...headers)];
}

function page(at: Listener, path: string): readonly Kind[] {
  return [get(at, path), [at, '… gzip', () => request(`GET ${path}`, 'Accept-Encoding: gzip')]];
}

function largest(folder: string): string {
  const sizeOf = (name: string): number => statSync(join(folder, name)).size;
  return readdirSync(folder).toSorted((a, b) => sizeOf(b) - sizeOf(a))[0] ?? '';
}

async function measured(gateway: Gateway, kind: Kind) {
  const { port, pid } = gateway[kind[0]];
  await send(port, kind, requests / 4);
  await sleep(restMs);
  const before = usageOf([pid]).cpuMs;
  const { sent, received, statuses } = await send(port, kind, requests);
  await sleep(restMs);
  const us = ((usageOf([pid]).cpuMs - before) * 1_000) / requests;
  return { status: [...statuses].join(' '), sent: sent / requests, received: received / requests, us };
}

async function send(port: number, [, , bytes, how = 'usual']: Kind, times: number) {
  const sum = { sent: 0, received: 0, statuses: new Set<string>() };
  let open: { readonly raw: Socket; readonly socket: Socket } | undefined;
  for (let i = 1; i <= times; i++) {
    const { raw, socket } = (open ??= await opened(port, how));
    if (bytes !== null) socket.write(bytes());
    const nothing = { status: '–', isLast: true };
    const { status, isLast } = bytes === null || how === 'cut' ? nothing : await wholeResponse(socket);
    sum.statuses.add(status);
    if (!isLast && how === 'usual' && i < times) continue;
    const closed = new Promise((resolve) => (raw.closed ? resolve(null) : raw.once('close', resolve)));
    if (how === 'cut') socket.once('data', () => socket.destroy());
    else socket.resume().end();
    await closed;
    sum.sent += raw.bytesWritten;
    sum.received += raw.bytesRead;
    open = undefined;
  }
  return sum;
}

async function opened(port: number, how: How) {
  // Wrong tokens are slowed by network, and loopback has 16 million addresses.
  networks += how === 'alone' ? 1 : 0;
  const localAddress = `127.1.${(networks >> 8) % 256}.${networks % 256}`;
  const raw = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
  await once(raw, 'connect');
  if (how !== 'shaken') return { raw, socket: raw };
  const socket = connectTls({ socket: raw, rejectUnauthorized: false }).on('error', () => undefined);
  await once(socket, 'secureConnect');
  return { raw, socket };
}

/** The first bytes of a TLS client. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ port, host: '127.0.0.1' }).on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  server.close();
  return bytes;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
