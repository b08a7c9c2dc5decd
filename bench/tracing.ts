/**
 * What tracing costs a request, in CPU of the gateway's process, sending to a collector included:
 *
 *     npm run bench:tracing -- [--requests 200000]
 */
import { lookup } from 'node:dns';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openLog } from '../src/ops/logger.ts';
import { startTracing } from '../src/ops/tracing.ts';
import { systemClock } from '../src/ports/clock.ts';
import { systemTimers } from '../src/ports/timers.ts';
import type { Tracer } from '../src/ports/tracer.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '200000' }, sink: { type: 'boolean' } },
});
const requests = Number(values.requests);
const rounds = 3;
/** As many as one turn of the event loop serves when there is much to do. */
const perTurn = 64;
const shares = [0, 0.01, 0.1, 1];

const received = [
  'Host',
  'api.example.com',
  'Authorization',
  'Bearer x',
  'Accept',
  '*/*',
  'User-Agent',
  'bench',
];
const sent = ['accept', '*/*', 'user-agent', 'bench', 'host', 'api.example.com', 'x-request-id', 'x'];
const socket = {};
const upstream = { origin: new URL('http://127.0.0.1:9'), socketPath: null };

if (values.sink) await sink();
else await compare();

async function compare(): Promise<void> {
  // In a process of its own, so that what it does is not counted.
  const collector = fork(fileURLToPath(import.meta.url), ['--sink'], { execArgv: process.execArgv });
  const [endpoint] = (await once(collector, 'message')) as [string];
  console.log(`CPU per request, least of ${rounds} rounds of ${requests} requests:\n`);
  const off = await least(null);
  console.log(`  off                 ${show(off)}`);
  for (const sampleRatio of shares) {
    const tracing = startTracing({
      config: { endpoint, sampleRatio, serviceName: 'bench' },
      version: '0',
      clock: systemClock,
      timers: systemTimers,
      lookup,
      logger: openLog('silent').logger,
    });
    const cost = await least(tracing.tracer);
    await tracing.close();
    console.log(`  sample_ratio ${String(sampleRatio).padEnd(5)}  ${show(cost - off)} more`);
  }
  console.log(
    '\nWhere more is sampled than is sent in time, spans are dropped instead of sent, and the figure is lower than it would be.',
  );
  collector.kill();
}

function show(us: number): string {
  return `${us.toFixed(2).padStart(6)} µs`;
}

async function least(tracer: Tracer | null): Promise<number> {
  let cost = Infinity;
  for (let round = 0; round < rounds; round++) cost = Math.min(cost, await perRequest(tracer));
  return cost;
}

async function perRequest(tracer: Tracer | null): Promise<number> {
  const began = process.cpuUsage();
  for (let i = 0; i < requests; await new Promise(setImmediate))
    for (const end = i + perTurn; i < end; i++) serve(tracer, i);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / requests;
}

/** The calls of a relayed request, in their order. */
function serve(tracer: Tracer | null, i: number): void {
  const trace = tracer?.begin({ method: 'GET', rawHeaders: received, socket }, '/') ?? null;
  trace?.deciding();
  trace?.authenticated();
  trace?.decided();
  trace?.forward([...sent], upstream);
  trace?.end({
    requestId: String(i),
    path: '/v1/shipments',
    status: 200,
    code: null,
    caller: 'account',
    upstreamMs: 1,
  });
}

async function sink(): Promise<void> {
  const server = createServer((request, response) => request.resume().on('end', () => response.end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`);
}
