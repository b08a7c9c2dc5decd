// @ts-check
/**
 * Runs one test server and outlives the process that asked for it, by a moment: when its standard input closes, for whatever
 * reason (SIGKILL included), it ends the server and removes the server's folder. Nothing is left behind.
 *
 *     node supervisor.mjs postgres '{"bin":"/usr/lib/postgresql/15/bin"}'
 *
 * Each line read is one command (start, stop, kill, pause, resume, promote); each is answered by one line of JSON, in order.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ServerProcess } from './server-process.mjs';
import { unusedPort } from './unused-port.mjs';
import { pgbouncer } from './pgbouncer.mjs';
import { postgres } from './postgres.mjs';
import { redis } from './redis.mjs';

/**
 * What differs between kinds of server.
 * @typedef {object} Kind
 * @property {(port: number) => import('./server-process.mjs').Launch} launch
 * @property {(port: number) => string} url
 * @property {NodeJS.Signals} stopSignal asks for an orderly end
 * @property {NodeJS.Signals} quickStopSignal asks for an end that need not keep the data
 * @property {() => Promise<void>} [promote] makes a primary of a standby
 * @property {() => Promise<void>} [afterKill] removes what a killed server leaves outside its folder
 */

const [kindName = '', options = '{}'] = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), `tenancy-gateway-test-${kindName}-`));
/** @type {Record<string, () => Promise<Kind>>} */
const kinds = {
  pgbouncer: () => pgbouncer(dir, JSON.parse(options)),
  postgres: () => postgres(dir, JSON.parse(options)),
  redis: () => redis(dir, JSON.parse(options)),
};
/** @type {Kind | undefined} */
let kind;
/** @type {ServerProcess | undefined} */
let child;
let port = 0;

/** @type {Record<string, () => unknown>} */
const commands = {
  start,
  stop: () => child?.stop(kind?.stopSignal ?? 'SIGTERM'),
  kill: () => child?.kill(),
  pause: () => child?.pause(),
  resume: () => child?.resume(),
  promote: () => kind?.promote?.(),
};

// One after another, also the end: a server that is still starting is ended once it has started.
let last = Promise.resolve();
createInterface({ input: process.stdin })
  .on('line', (line) => (last = last.then(() => answer(line.trim()))))
  .on('close', () => (last = last.then(dispose)));
for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.once(name, () => void dispose());
// The process that asked may be gone before it is answered.
process.stdout.on('error', () => undefined);

/** @param {string} name */
async function answer(name) {
  const command = commands[name];
  try {
    if (!command) throw new Error(`unknown command ${name}`);
    await command();
    reply({ ok: true, url: kind?.url(port), pid: child?.pid });
  } catch (error) {
    reply({ ok: false, error: String(error instanceof Error ? error.message : error) });
  }
}

async function start() {
  kind ??= await kinds[kindName]?.();
  if (kind === undefined) throw new Error(`unknown server ${kindName}`);
  if (child?.isRunning) return;
  // A restarted server keeps its port; a new one tries another when another process was quicker to take it.
  for (let tries = port ? 1 : 3; tries > 0; tries -= 1) {
    port ||= await unusedPort();
    const launch = kind.launch(port);
    child = new ServerProcess(launch);
    try {
      return await child.ready(launch.isReady);
    } catch (error) {
      if (tries === 1) throw error;
      port = 0;
    }
  }
}

async function dispose() {
  await child?.stop(kind?.quickStopSignal ?? 'SIGKILL');
  await kind?.afterKill?.();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

/** @param {object} message */
function reply(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
