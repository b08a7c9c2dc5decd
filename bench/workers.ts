/**
 * What a request costs with several workers, and what the difference to one process is made of. Beside the workers stand as many
 * processes that know nothing of each other: what these cost more a request than one does is the machine's doing, whose cores
 * share caches and more. What workers cost more than these is the primary, and the way of connections through it.
 *
 *     npm run bench:workers -- [--workers 2] [--rounds 7] [--seconds 5] [--rate 1000] [--connections 32]
 *
 * `--rate` is requests a second of each process, `--connections` its connections.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { usageOf } from './lib/proc.ts';
import { describeMachine, machineLine, quietLoad } from './machine.ts';
import { table } from './report/tables.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { startWorkers, type WorkersProcess } from '../test/support/workers.ts';

/** Processes that are under load together. */
interface Setup {
  readonly title: string;
  readonly gateways: readonly WorkersProcess[];
  /** Requests a second, of all together. */
  readonly rate: number;
  /** CPU a request in each round, microseconds. */
  readonly us: number[];
  /** The same without what the processes use at rest. */
  readonly netUs: number[];
}

/** CPU of a gateway's processes, milliseconds. */
interface Cpu {
  readonly all: number;
  readonly workers: number;
}

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '1000' },
    connections: { type: 'string', default: '32' },
  },
});
const [count, rounds, seconds, rate, connections] = [
  values.workers,
  values.rounds,
  values.seconds,
  values.rate,
  values.connections,
].map(Number) as [number, number, number, number, number];
/** What is counted is written down every two seconds; after that a gateway is at rest. */
const settlingMs = 2_500;

await main();

async function main(): Promise<void> {
  const machine = describeMachine();
  say(machineLine(machine));
  if (machine.load > quietLoad) say('WARNING: this machine is busy; what follows is noisy at best.');
  const ends: (() => unknown)[] = [];
  const scope = { teardown: (end: () => unknown) => void ends.unshift(end) };
  try {
    // Where tests look for the server that their runner starts.
    process.env['TEST_POSTGRES_URL'] = (await startPostgres(scope)).url;
    const setups = await startAll(scope);
    const atRest = new Map<WorkersProcess, Cpu[]>();
    for (let round = 0; round <= rounds; round++) await measureAll(setups, atRest, round);
    report(setups, atRest);
  } finally {
    for (const end of ends) await end();
  }
}

async function startAll(scope: Parameters<typeof startWorkers>[0]): Promise<readonly Setup[]> {
  const upstream = createServer((_request, response) => response.end('ok'));
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  scope.teardown(() => upstream.close().closeAllConnections());
  const env = {
    UPSTREAM_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    LOG_LEVEL: 'warn',
  };
  const workers = await startWorkers(scope, env, count);
  const processes = [await startWorkers(scope, env, 1)];
  while (processes.length < count) {
    const { databaseUrl } = processes[0] as WorkersProcess;
    processes.push(await startWorkers(scope, { ...env, DATABASE_URL: databaseUrl }, 1));
  }
  const setup = (title: string, gateways: readonly WorkersProcess[], total: number): Setup => {
    return { title, gateways, rate: total, us: [], netUs: [] };
  };
  return [
    setup('one process', processes.slice(0, 1), rate),
    setup(`${count} processes`, processes, count * rate),
    setup(`${count} workers`, [workers], count * rate),
    setup(`${count} processes, the load of one`, processes, rate),
    setup(`${count} workers, the load of one`, [workers], rate),
  ];
}

/** Each setup once, after all have been at rest. The first round warms up. */
async function measureAll(
  setups: readonly Setup[],
  atRest: Map<WorkersProcess, Cpu[]>,
  round: number,
): Promise<void> {
  const all = [...new Set(setups.flatMap(({ gateways }) => gateways))];
  await sleep(settlingMs);
  const before = all.map(cpuOf);
  await sleep(seconds * 1_000);
  for (const [i, gateway] of all.entries()) {
    const used = difference(cpuOf(gateway), before[i] as Cpu, seconds);
    if (round > 0) atRest.set(gateway, [...(atRest.get(gateway) ?? []), used]);
  }
  for (const setup of round % 2 === 0 ? setups : setups.toReversed()) {
    const { cpuMs, elapsedMs, requests } = await measure(setup);
    const restMs = sum(setup.gateways.map((each) => median((atRest.get(each) ?? []).map((cpu) => cpu.all))));
    if (round === 0) continue;
    setup.us.push((cpuMs * 1_000) / requests);
    setup.netUs.push(((cpuMs - (restMs * elapsedMs) / 1_000) * 1_000) / requests);
    say(`round ${round}, ${setup.title}: ${setup.us.at(-1)?.toFixed(1)} µs`);
  }
}

/** Puts the gateways of a setup under load. */
async function measure({ gateways, rate: perSecond }: Setup) {
  const open = (connections * perSecond) / rate / gateways.length;
  const clients = gateways.map(({ url, key }) => {
    const pool = new Pool(url, { connections: open, pipelining: 1 });
    const headers = { authorization: `Bearer ${key}` };
    const send = async (): Promise<void> => {
      const { statusCode, body } = await pool.request({ path: '/x', method: 'GET', headers });
      await body.dump();
      if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    };
    return { pool, send };
  });
  // All connections, before anything is counted.
  await Promise.all(clients.flatMap(({ send }) => Array.from({ length: open }, send)));
  const [began, before] = [performance.now(), gateways.map(cpuOf)];
  const underWay: Promise<void>[] = [];
  const requests = perSecond * seconds;
  while (underWay.length < requests) {
    const due = Math.min(requests, ((performance.now() - began) / 1_000) * perSecond);
    while (underWay.length < due) underWay.push(clients[underWay.length % clients.length]!.send());
    await sleep(5);
  }
  await Promise.all(underWay);
  const elapsedMs = performance.now() - began;
  const cpuMs = sum(gateways.map((gateway, i) => difference(cpuOf(gateway), before[i] as Cpu).all));
  await Promise.all(clients.map(({ pool }) => pool.close()));
  return { cpuMs, elapsedMs, requests };
}

function report(setups: readonly Setup[], atRest: ReadonlyMap<WorkersProcess, readonly Cpu[]>): void {
  const [one] = setups;
  const header = ['', 'requests/s', 'CPU µs/request', 'lowest', 'highest', 'without rest', '× one process'];
  const rows = setups.map(({ title, rate: perSecond, us, netUs }) => [
    title,
    String(perSecond),
    median(us).toFixed(1),
    Math.min(...us).toFixed(1),
    Math.max(...us).toFixed(1),
    median(netUs).toFixed(1),
    (median(us) / median(one?.us ?? [])).toFixed(3),
  ]);
  process.stdout.write(`${table(header, rows)}\n\n`);
  const [single, several] = [setups[0], setups[2]].map((setup) => {
    const rounds = setup?.gateways.map((gateway) => atRest.get(gateway) ?? []).flat() ?? [];
    return (of: (cpu: Cpu) => number): string => median(rounds.map(of)).toFixed(2);
  });
  const rest = [
    ['one process', single?.(({ all }) => all) ?? ''],
    ['primary', several?.(({ all, workers }) => all - workers) ?? ''],
    ['each worker', several?.(({ workers }) => workers / count) ?? ''],
  ];
  process.stdout.write(`${table(['at rest', 'CPU ms/s'], rest)}\n`);
}

function cpuOf({ program, pids }: WorkersProcess): Cpu {
  return { all: usageOf([program.child.pid as number]).cpuMs, workers: usageOf(pids()).cpuMs };
}

/** @param share of it, such as one second of several */
function difference(after: Cpu, before: Cpu, share = 1): Cpu {
  return { all: (after.all - before.all) / share, workers: (after.workers - before.workers) / share };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
