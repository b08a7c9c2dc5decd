/**
 * What it costs to be seen: microseconds of processor time a request for its metrics and for its line in the access log.
 *
 *     npm run bench:observability -- [--requests 300000]
 *
 * The functions are called as the gateway calls them, so many a turn of the event loop; lines go to a pipe that `cat`
 * empties, and the time of the threads that write them counts. With the whole gateway around it:
 * `npm run bench -- --scenario small-get --only gateway --access-log`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { accessLog } from '../src/ops/access-log.ts';
import { openLog } from '../src/ops/logger.ts';
import { createRegistry } from '../src/ops/metrics.ts';
import { requestMetrics } from '../src/ops/request-metrics.ts';
import type { RequestObserver, RequestRecord } from '../src/ports/request-record.ts';
import { describeMachine, machineLine } from './machine.ts';
import { table } from './report/tables.ts';

/** Microseconds a request that metrics and access log may take together. */
const budgetUs = 5;
/** Requests that end in one turn of the event loop: an idle gateway's, a usual one's, a saturated one's. */
const turns = [1, 4, 16] as const;
const rounds = 5;

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '300000' }, part: { type: 'string' } },
});
const requests = Number(values.requests);
await (values.part === undefined ? compare() : measure(values.part));

async function compare(): Promise<void> {
  say(machineLine(describeMachine()));
  const rows: [string, ...number[]][] = [];
  for (const part of ['metrics', 'access log', 'both'])
    rows.push([part, ...(await inProcessOfItsOwn(part.replace(' ', '-')))]);
  say(
    table(
      ['µs a request', ...turns.map((many) => `${many} a turn`)],
      rows.map(([part, ...costs]) => [part, ...costs.map((us) => us.toFixed(2))]),
    ),
  );
  const worst = Math.max(...rows.flatMap(([, ...costs]) => costs));
  say(`${worst <= budgetUs ? 'Within' : 'ABOVE'} the budget of ${budgetUs} µs; best of ${rounds} rounds.`);
  process.exitCode = worst <= budgetUs ? 0 : 1;
}

/** Its log is on standard output, so what it measured comes on standard error. */
async function inProcessOfItsOwn(part: string): Promise<number[]> {
  const self = fileURLToPath(import.meta.url);
  const command = `"$0" "$@" | cat >/dev/null`;
  const args = [...process.execArgv, self, '--part', part, '--requests', String(requests)];
  const child = spawn('sh', ['-c', command, process.execPath, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let measured = '';
  child.stderr.on('data', (chunk: Buffer) => (measured += chunk.toString()));
  await once(child, 'close');
  return JSON.parse(measured) as number[];
}

async function measure(part: string): Promise<void> {
  const { logger } = openLog('info');
  const observers = {
    metrics: requestMetrics(createRegistry()).observe,
    'access-log': accessLog(logger) ?? ignore,
  };
  const observe: RequestObserver =
    part in observers
      ? observers[part as keyof typeof observers]
      : (record) => {
          observers.metrics(record);
          observers['access-log'](record);
        };
  const costs: number[] = [];
  for (const perTurn of turns) {
    await perRequest(observe, perTurn);
    let [bare, observed] = [Infinity, Infinity];
    for (let round = 0; round < rounds; round++) {
      bare = Math.min(bare, await perRequest(ignore, perTurn));
      observed = Math.min(observed, await perRequest(observe, perTurn));
    }
    costs.push(observed - bare);
  }
  process.stderr.write(JSON.stringify(costs));
  process.exit();
}

async function perRequest(observe: RequestObserver, perTurn: number): Promise<number> {
  const began = process.cpuUsage();
  for (let i = 0; i < requests; await new Promise(setImmediate))
    for (const end = i + perTurn; i < end; i++) observe(finished(i));
  const { user, system } = process.cpuUsage(began);
  return (user + system) / requests;
}

function ignore(): void {}

/** As the gateway tells of it; texts differ from request to request. */
function finished(number: number): RequestRecord {
  return {
    requestId: `01a1fc5628c170008a1b2c3d${(number % 0x10000000).toString(16).padStart(8, '0')}`,
    method: number % 2 === 0 ? 'GET' : 'POST',
    path: `/v1/shipments/${number % 1_000}`,
    route: '/',
    status: 200,
    code: null,
    keyId: '01a1fc56-28c1-7000-8a1b-2c3d4e5f6a7b',
    resolvedTenant: '01a1fc56-24d1-7000-8a1b-2c3d4e5f6a7b',
    reason: 'self',
    durationMs: 1.2345 + (number % 7),
    upstreamMs: 0.8125 + (number % 5),
    bytesIn: 0,
    bytesOut: 0,
    caller: '01a1fc56-24d1-7000-8a1b-2c3d4e5f6a7c',
    head: {
      rawHeaders: [
        'Host',
        'api.example',
        'Authorization',
        'Bearer x',
        'User-Agent',
        'python-requests/2.32.3',
        'Accept',
        '*/*',
      ],
      socket: { remoteAddress: `::ffff:192.0.2.${number % 250}` },
    },
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
