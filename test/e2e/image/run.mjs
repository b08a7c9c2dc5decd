#!/usr/bin/env node
// @ts-check
/**
 * `node test/e2e/image/run.mjs ROOTFS IMAGE.JSON`: runs an image's root file system, as root: mounted read-only, as the
 * image's user, without capabilities, over a real PostgreSQL. Holds it to what the Dockerfile promises and says what
 * it measured. `test/e2e/image/build.sh` makes both arguments.
 */
/* global AbortSignal, fetch */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { findPostgres } from '../../servers/find-postgres.mjs';
import { unusedPort } from '../../servers/unused-port.mjs';
import { startSupervised } from '../../servers/supervised-server.mjs';
import { readOnly, usageJournals } from './read-only.mjs';

const [rootfs = '', description = ''] = process.argv.slice(2);
/** @type {{ User: string, Env: string[], Cmd: string[], Healthcheck: { Test: string[] }, WorkingDir: string }} */
const image = JSON.parse(readFileSync(description, 'utf8')).Docker.config;

const token = 'f'.repeat(40);
const [port, internalPort] = [await unusedPort(), await unusedPort()];
let received = 0;
const upstream = createServer((request, reply) => {
  received += 1;
  reply.end(JSON.stringify(request.headers));
});
upstream.listen(0, '127.0.0.1');
await once(upstream, 'listening');
const postgres = await startSupervised('postgres', { bin: findPostgres().bin });
const upstreamPort = /** @type {import('node:net').AddressInfo} */ (upstream.address()).port;
const variables = [
  `PORT=${port}`,
  `INTERNAL_PORT=${internalPort}`,
  `DATABASE_URL=${postgres.url}`,
  `UPSTREAM_URL=http://127.0.0.1:${upstreamPort}`,
  `ADMIN_TOKEN=${token}`,
];

/** Lines at `warn` or above, by process. @type {WeakMap<import('node:child_process').ChildProcess, string[]>} */
const warnings = new WeakMap();

try {
  holdsNothingToBuildWith();
  mustNotStartWithoutDatabase();
  await waitsForMigrations();
  const key = await serves();
  await countsOverKills(key);
  await traces(key);
  await startsQuickly();
} finally {
  upstream.close();
  await postgres.end();
}

function holdsNothingToBuildWith() {
  for (const absent of ['npm', 'npx', 'corepack', 'yarn', 'tsc', 'gcc', 'make', 'python3'])
    assert.equal(spawnSync('chroot', [rootfs, 'sh', '-c', `command -v ${absent}`]).status, 127, absent);
  for (const absent of ['typescript', 'tap', '@electric-sql', 'prettier'])
    assert.ok(!existsSync(`${rootfs}/app/node_modules/${absent}`), absent);
  const [user = ''] = image.User.split(':');
  const its = execFileSync('find', [rootfs, '-xdev', '-uid', user], { encoding: 'utf8' });
  assert.equal(
    its,
    `${rootfs}${usageJournals}\n`,
    'nothing in the image belongs to its user, but where usage journals are',
  );
  const megabytes = (/** @type {string} */ path) =>
    Math.round(Number(execFileSync('du', ['-sxb', path], { encoding: 'utf8' }).split('\t')[0]) / 1e6);
  say(
    `${megabytes(rootfs)} MB unpacked, of which node ${megabytes(`${rootfs}/usr/local/bin/node`)}, /app ${megabytes(`${rootfs}/app`)}`,
  );
  const packed = execFileSync('sh', ['-c', `tar -C ${rootfs} -c . | gzip -6 | wc -c`], { encoding: 'utf8' });
  say(`${Math.round(Number(packed) / 1e6)} MB packed, as a registry sends it`);
}

function mustNotStartWithoutDatabase() {
  const { status, stderr } = inside(image.Cmd, []);
  assert.notEqual(status, 0);
  assert.match(stderr, /DATABASE_URL/);
  say(`without DATABASE_URL: exit code ${status}, ${stderr.trim().split('\n')[0]}`);
}

async function waitsForMigrations() {
  const gateway = start(['MIGRATE=off']);
  await until(async () => (await get('/readyz')).text.includes('migrations_pending'));
  const migrated = inside(['tenancy-gateway', 'migrate'], variables);
  assert.equal(migrated.status, 0, migrated.stderr);
  await until(ready);
  say(`migrated by the image's own command: ${migrated.stdout.trim()}`);
  await stop(gateway);
}

async function serves() {
  const gateway = start([]);
  await until(ready);

  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
  assert.match(status, /^Uid:\t10001\t10001\t10001\t10001$/m);
  assert.match(status, /^CapEff:\t0+$/m);
  assert.match(status, /^Name:\tnode|^Name:\tMainThread/m, 'Node.js is the process, not a child of a shell');
  const megabytes = (/** @type {string} */ name) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1000);
  say(`${megabytes('VmRSS')} MB resident when ready, ${megabytes('RssAnon')} of them its own`);

  const [, ...healthcheck] = image.Healthcheck.Test;
  assert.equal(inside(healthcheck, variables).status, 0, 'healthy');
  assert.equal(inside(healthcheck, ['INTERNAL_PORT=1']).status, 1, 'unhealthy where no process listens');

  const operate = (/** @type {string[]} */ ...args) => {
    const { status, stdout, stderr } = inside(['tenancy-gateway', '--json', ...args], variables);
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  };
  const account = operate('accounts', 'create', 'Ada Logistics');
  const key = operate('keys', 'create', account.id, '--name', 'production');
  const response = await shipments(key.api_key);
  const seen = /** @type {Record<string, string>} */ (await response.json());
  assert.equal(response.status, 200);
  assert.equal(seen['x-service-resolved-tenant'], account.id, 'the upstream is told who it is');
  say('an account and a key made inside; a request with it reached the upstream as that account');
  const { text: metrics } = await get('/metrics');
  assert.match(metrics, /^tenancy_gateway_usage_journal_unwritable 0$/m, 'usage is journalled');
  assert.deepEqual(warningsOf(gateway), [], 'the first log has no warning');
  say(`exit 0 ${await stop(gateway)} ms after SIGTERM`);
  return /** @type {string} */ (key.api_key);
}

/**
 * As the chart and OpenShift run it: a user that the image does not know, a limit of memory, and a volume for journals that
 * outlives the process. Whatever reached the upstream is counted, however often the process is killed.
 * @param {string} key
 */
async function countsOverKills(key) {
  const [journals, user] = [mkdtempSync(join(tmpdir(), 'journals-')), '54321:54321'];
  chownSync(journals, 54321, 54321);
  const kills = 4;
  const atOnce = 20;
  try {
    for (let kill = 0; kill <= kills; kill += 1) {
      const gateway = start([], { user, journals });
      limitMemory(gateway, 512);
      await until(ready);
      if (kill === kills) {
        assert.match(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'), /^Uid:\t54321\t/m);
        await until(async () => counted() >= received);
        const more = counted() - received;
        assert.ok(more <= kills * atOnce, `${more} requests are counted that the upstream did not have`);
        say(
          `${received} requests reached the upstream over ${kills} kills: none lost, ${more} counted beyond them`,
        );
        await stop(gateway);
        break;
      }
      const ends = Date.now() + 1500;
      const clients = Array.from({ length: atOnce }, async () => {
        while (Date.now() < ends + 500) if (!(await shipments(key).catch(() => undefined))) await sleep(10);
      });
      await sleep(1500);
      const ended = once(gateway, 'exit');
      gateway.kill('SIGKILL');
      await Promise.all([ended, ...clients]);
      assert.deepEqual(warningsOf(gateway), [], 'no log has a warning');
    }
  } finally {
    rmSync(journals, { recursive: true });
  }
}

/** Requests in the report. */
function counted() {
  const { status, stdout, stderr } = inside(['tenancy-gateway', '--json', 'usage'], variables);
  assert.equal(status, 0, stderr);
  const { data } = /** @type {{ data: { requests: number }[] }} */ (JSON.parse(stdout));
  return data.reduce((sum, { requests }) => sum + requests, 0);
}

/**
 * Limits the memory of a process as a container's is, if this machine has control groups of version 2.
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} mebibytes
 */
function limitMemory({ pid }, mebibytes) {
  const group = '/sys/fs/cgroup/tenancy-gateway-image-test';
  try {
    mkdirSync(group, { recursive: true });
    writeFileSync(join(group, 'memory.max'), String(mebibytes * 2 ** 20));
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
  } catch (error) {
    say(`SKIPPED: no limit of memory, ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * The image drops files of what tracing stands on; here all that is left of it works, sending included.
 * @param {string} key
 */
async function traces(key) {
  const sent = new EventEmitter();
  const collector = createServer((request, reply) => {
    void buffer(request).then((body) => {
      reply.end();
      sent.emit('spans', body.toString('latin1'));
    });
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (collector.address());
  const gateway = start([`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:${port}/v1/traces`]);
  await until(ready);
  const spans = once(sent, 'spans', { signal: AbortSignal.timeout(30_000) });
  assert.equal((await shipments(key)).status, 200);
  const [text] = /** @type {[string]} */ (await spans);
  assert.match(text, /tenancy-gateway/);
  assert.match(text, /http\.request\.method/);
  say(`traced: the collector got ${text.length} bytes of spans`);
  await stop(gateway);
  collector.close();
}

/** Over a database that is there and migrated, as every start but the first. */
async function startsQuickly() {
  const goalMs = 1500;
  const [took, worked] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  for (let n = 0; n < 7; n += 1) {
    const began = performance.now();
    const gateway = start([]);
    await until(ready);
    took.push(Math.round(performance.now() - began));
    worked.push(cpuMs(gateway));
    await stop(gateway);
  }
  const [median = Infinity, cpu] = [took, worked].map((all) => all.sort((a, b) => a - b)[3] ?? Infinity);
  say(`ready ${median} ms after its start, median of ${took.join(', ')}; load ${loadavg()[0]?.toFixed(2)}`);
  say(`${cpu} ms of processor time until then, median of ${worked.join(', ')}`);
  if (median > goalMs) say(`ABOVE the goal of ${goalMs} ms: is the machine quiet?`);
}

/** @param {string} key */
function shipments(key) {
  return fetch(`http://127.0.0.1:${port}/shipments`, { headers: { authorization: `Bearer ${key}` } });
}

async function ready() {
  return (await get('/readyz')).status === 200;
}

/** @param {import('node:child_process').ChildProcess} gateway */
function warningsOf(gateway) {
  return warnings.get(gateway) ?? [];
}

/**
 * @param {string[]} more variables
 * @param {Parameters<typeof readOnly>[4]} [chosen]
 */
function start(more, chosen) {
  const gateway = spawn('unshare', readOnly(rootfs, image, image.Cmd, [...variables, ...more], chosen), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const found = /** @type {string[]} */ ([]);
  warnings.set(gateway, found);
  createInterface(gateway.stdout).on('line', (line) => {
    if (process.env['VERBOSE']) console.log(line);
    if (/"level":"(?:warn|error|fatal)"/.test(line)) found.push(line);
  });
  const kill = () => gateway.kill('SIGKILL');
  process.once('exit', kill);
  gateway.once('exit', () => process.off('exit', kill));
  return gateway;
}

/** @param {import('node:child_process').ChildProcess} gateway */
async function stop(gateway) {
  const began = performance.now();
  const ended = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  const [code] = await ended;
  assert.equal(code, 0, 'SIGTERM is handled by the process itself');
  return Math.round(performance.now() - began);
}

/** @param {import('node:child_process').ChildProcess} gateway */
function cpuMs({ pid }) {
  // User and system time, in hundredths of a second (proc_pid_stat(5)).
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ').slice(11);
  return (Number(user) + Number(system)) * 10;
}

/**
 * Runs one command as the image would, to its end.
 * @param {string[]} command
 * @param {string[]} environment
 */
function inside(command, environment) {
  return spawnSync('unshare', readOnly(rootfs, image, command, environment), {
    encoding: 'utf8',
    timeout: 30_000,
  });
}

/** @param {string} path */
async function get(path) {
  const response = await fetch(`http://127.0.0.1:${internalPort}${path}`).catch(() => undefined);
  return { status: response?.status, text: (await response?.text()) ?? '' };
}

/** @param {() => Promise<boolean>} condition */
async function until(condition) {
  const patience = AbortSignal.timeout(30_000);
  while (!(await condition())) {
    patience.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** @param {string} line */
function say(line) {
  console.log(`image: ${line}`);
}
