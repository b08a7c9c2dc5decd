/**
 * What others notice of a gateway in a memory cgroup of 512 MiB while one network with 10,000 connections attacks it. `docs/security.md`
 * has the figures.
 *
 *     npm run bench:pod -- [--attack documents,no-key] [--connections 10000] [--seconds 300] [--memory-mib 512] [--node PROGRAM]
 *
 * It needs root, for the cgroup, and python3. Clients, services and gateway share a kernel here, so `net.ipv4.tcp_mem` has to be raised
 * for 10,000 senders: sysctl -w net.ipv4.tcp_mem="2000000 3000000 4000000".
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, existsSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../test/support/postgres.ts';
import { startRedis } from '../../test/support/redis.ts';
import { root } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import { describeMachine, machineLine, quietLoad } from '../machine.ts';
import { table } from '../report/tables.ts';

const attacks = [
  ...['documents', 'refusals', 'no-key', 'heads', 'long-heads', 'discarded', 'portal', 'websockets'],
  ...['websockets-unread', 'frames', 'lists', 'bodies', 'uploads', 'chunks', 'downloads', 'fast-downloads'],
  'pipelined',
];
const { values } = parseArgs({
  options: {
    attack: { type: 'string', default: attacks.join(',') },
    connections: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '300' },
    'memory-mib': { type: 'string', default: '512' },
    node: { type: 'string', default: process.execPath },
  },
});
const adminToken = 'bench-0123456789abcdef0123456789abcdef';

const webSocketHead =
  'GET /ws/answers HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
const maskedByte = Buffer.from('\x82\x81\x01\x02\x03\x04x', 'latin1');

/** What a request got: its status, or why it got none, and the milliseconds that took. */
interface Got {
  readonly status: number | string;
  readonly ms: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const ends: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => ends.unshift(end) };
try {
  const machine = describeMachine();
  say(machineLine(machine));
  if (machine.load > quietLoad) say('WARNING: this machine is busy; what follows is noisy at best.');
  const rows: string[][] = [];
  for (const attack of values.attack.split(',')) {
    rows.push(await attacked(attack));
    say(rows.at(-1)?.join('  ') ?? '');
  }
  const header = [
    `${values.connections} connections`,
    'alive',
    'most RSS',
    'requests: p50',
    'p99',
    'longest',
    'not 200',
  ];
  say(table([...header, 'longest revocation', 'failed', 'download', 'WebSocket'], rows));
} finally {
  for (const end of ends) await end();
}

async function attacked(attack: string): Promise<string[]> {
  const own = ends.length;
  const gateway = await startGateway();
  const [victim, attacker] = [await gateway.parent(), await gateway.parent()];
  for (let i = 0; i < 200; i++)
    await call(gateway.port, 'POST', '/v1/sub-accounts', attacker, { name: `${'n'.repeat(200)}${i}` });
  const { id: sub } = (await call(gateway.port, 'POST', '/v1/sub-accounts', victim, { name: 'mine' })).body;
  const download = await held(gateway.port, victim, 'GET /endless HTTP/1.1');
  // 64 KB a second: `docs/upstreams.md` says from where on a client is cut.
  const slowly = setInterval(() => void download.read(8_192), 125);
  const webSocket = await held(gateway.port, victim, webSocketHead);
  const [requests, revokes]: [Promise<Got>[], Promise<Got>[]] = [[], []];
  const asking = setInterval(() => void requests.push(call(gateway.port, 'GET', '/now', victim)), 100);
  const keys = `/v1/sub-accounts/${String(sub)}/api-keys`;
  const revoke = async (): Promise<Got> => {
    const made = await call(gateway.port, 'POST', keys, victim, { name: 'key' });
    if (made.status !== 201) return made;
    return call(gateway.port, 'POST', `${keys}/${String(made.body['id'])}/revoke`, victim);
  };
  const revoking = setInterval(() => void revokes.push(revoke()), 1_000);
  let mostRss = 0;
  const weighing = setInterval(() => (mostRss = Math.max(mostRss, gateway.rss())), 250);
  const { connections, seconds } = values;
  const port = String(attack === 'portal' ? gateway.portalPort : gateway.port);
  const script = join(import.meta.dirname, 'attack.py');
  const python = spawn('python3', [script, attack, port, connections, seconds, attacker], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(python, 'exit');
  for (const each of [asking, revoking, weighing, slowly]) clearInterval(each);
  const [asked, revoked] = [await Promise.all(requests), await Promise.all(revokes)];
  const livesOn = [await answers(download, null), await answers(webSocket, maskedByte)];
  const alive = gateway.process.exitCode === null && gateway.process.signalCode === null;
  for (const end of ends.splice(0, ends.length - own)) await end();
  const taken = asked.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): string =>
    `${(taken[Math.floor((taken.length - 1) * share)] ?? NaN).toFixed(0)} ms`;
  return [
    ...[attack, alive ? 'yes' : 'KILLED', `${Math.round(mostRss / 1e6)} MB`, at(0.5), at(0.99), at(1)],
    faults(asked),
    `${Math.max(...revoked.map(({ ms }) => ms)).toFixed(0)} ms`,
    faults(revoked),
    ...livesOn.map((lives) => (lives ? 'lives' : 'ended')),
  ];
}

/** How many did not get 200, of how many, and what they got. */
function faults(all: readonly Got[]): string {
  const not = all.filter(({ status }) => status !== 200);
  const kinds = [...new Set(not.map(({ status }) => status))].join(' ');
  return `${not.length} of ${all.length} ${kinds}`.trim();
}

/** A gateway in a cgroup of its own, with PostgreSQL, Redis and services. */
async function startGateway() {
  const [postgres, redis] = await Promise.all([startPostgres(scope), startRedis(scope)]);
  const services = spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, 'services.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  ends.unshift(() => services.kill());
  const [said] = (await once(services.stdout, 'data')) as [Buffer];
  const [port, internalPort, portalPort] = [await freePort(), await freePort(), await freePort()];
  const dir = mkdtempSync(join(tmpdir(), 'tenancy-gateway-pod-'));
  ends.unshift(() => rmSync(dir, { recursive: true, force: true }));
  const config = join(dir, 'gateway.yaml');
  writeFileSync(config, `portal: { port: ${portalPort}, url: 'http://127.0.0.1:${portalPort}/' }\n`);
  const child = inCgroup(Number(values['memory-mib']) * 2 ** 20, {
    ...{ NODE_ENV: 'production', CONFIG: config, ADMIN_TOKEN: adminToken, LOG_LEVEL: 'error' },
    ...{ DATABASE_URL: postgres.url, REDIS_URL: redis.url, PORT: String(port) },
    ...{ INTERNAL_PORT: String(internalPort), UPSTREAM_URL: `http://127.0.0.1:${said.toString().trim()}` },
  });
  while ((await call(internalPort, 'GET', '/readyz')).status !== 200) await sleep(250);
  const parent = async (): Promise<string> => {
    const { id } = (await call(internalPort, 'POST', '/admin/v1/accounts', adminToken, { name: 'bench' }))
      .body;
    const scopes = ['sub_accounts:read', 'sub_accounts:write'];
    const path = `/admin/v1/accounts/${String(id)}/api-keys`;
    const minted = await call(internalPort, 'POST', path, adminToken, { name: 'key', scopes });
    return String(minted.body['api_key']);
  };
  const rss = (): number => {
    const pages = existsSync(`/proc/${child.pid}/statm`) && readFileSync(`/proc/${child.pid}/statm`, 'utf8');
    return pages === false ? 0 : Number(pages.split(' ')[1]) * 4_096;
  };
  return { port, portalPort, process: child, parent, rss };
}

/** Starts the gateway as the image does, in a memory cgroup (version 2 or 1). */
function inCgroup(bytes: number, env: Readonly<Record<string, string>>): ChildProcess {
  const [base, limit] = existsSync('/sys/fs/cgroup/cgroup.controllers')
    ? ['/sys/fs/cgroup', 'memory.max']
    : ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'];
  const group = join(base, `tenancy-gateway-pod-${process.pid}`);
  mkdirSync(group, { recursive: true });
  writeFileSync(join(group, limit), String(bytes));
  const command = /^CMD (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? '[]';
  const flags = (JSON.parse(command) as string[]).slice(1, -1);
  const enter = `echo $$ > ${join(group, 'cgroup.procs')} && exec "$@"`;
  const child = spawn('sh', ['-c', enter, 'sh', values.node, ...flags, join(root, 'dist/main.js')], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  ends.unshift(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    // The kernel empties the group a moment later.
    await sleep(500);
    rmdirSync(group);
  });
  return child;
}

/** On a connection of its own. */
function call(port: number, method: string, path: string, key?: string, body?: object): Promise<Got> {
  const sentMs = performance.now();
  return new Promise((resolve) => {
    const got = (status: number | string, text = '{}'): void => {
      let parsed: Record<string, unknown> = {};
      try {
        parsed = JSON.parse(text) as Record<string, unknown>;
      } catch {
        // Not JSON: a response of the service.
      }
      resolve({ status, ms: performance.now() - sentMs, body: parsed });
    };
    const headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false, timeout: 60_000 });
    sent.on('error', (error: NodeJS.ErrnoException) => got(error.code ?? error.message));
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      response.on('error', (error: NodeJS.ErrnoException) => got(error.code ?? error.message));
      response.on('end', () => got(response.statusCode ?? 0, text));
    });
    sent.end(body && JSON.stringify(body));
  });
}

/** A connection whose response or WebSocket has begun, and is not read by itself. */
async function held(port: number, key: string, head: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`${head}\r\nHost: gateway\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await once(socket, 'readable');
  socket.read(1_024);
  ends.unshift(() => socket.destroy());
  return socket;
}

/** Whether bytes come on a held connection, after these have been sent. */
async function answers(socket: Socket, sent: Buffer | null): Promise<boolean> {
  while (socket.read() !== null);
  if (sent !== null) socket.write(sent);
  for (let i = 0; i < 50 && !socket.destroyed; i++) {
    if (socket.read() !== null) return true;
    await sleep(100);
  }
  return false;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
