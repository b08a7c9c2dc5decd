/**
 * What a client without a key can make a gateway do: searches at random for the head of a request that costs its reader most, and
 * measures what it costs the whole process, beside an ordinary head and beside nginx.
 *
 *     npm run bench:heads -- [--seeds 4] [--rounds 2000] [--requests 400] [--cores 0,1] [--against REVISION]
 *
 * `--against` measures another build of the gateway, too: a revision, a folder or a main.js.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../test/support/coherence/random.ts';
import { startHeadListeners, type HeadListener } from '../test/support/head-listeners.ts';
import { costliestTargets, dearestHead, sizeOf, type HostileHead } from '../test/support/hostile-heads.ts';
import { buildAgainst } from './builds.ts';
import { inEnvironment, type Environment } from './environment.ts';
import { ownNode } from './lib/node-runtime.ts';
import { usageOf } from './lib/proc.ts';
import { wholeResponse } from './lib/whole-response.ts';
import { describeMachine, machineLine, quietLoad } from './machine.ts';
import { table } from './report/tables.ts';
import { StartedTargets } from './started-targets.ts';
import { gateway, gatewayBuiltAt } from './targets/gateway.ts';
import { nginxMap } from './targets/nginx.ts';
import type { Target } from './targets/target.ts';

/** A head with a name for the table. */
interface NamedHead {
  readonly name: string;
  readonly head: HostileHead;
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '2000' },
    requests: { type: 'string', default: '400' },
    cores: { type: 'string', default: '0,1' },
    against: { type: 'string' },
  },
});
/** As long as a head may be by default, less what a request needs anyway. */
const mostBytes = 15_800;
const [proxyCore = 0, otherCore = 1] = values.cores.split(',').map(Number);

await inEnvironment({ proxyCore, otherCore }, main);

async function main(environment: Environment): Promise<void> {
  const machine = describeMachine();
  say(machineLine(machine));
  if (machine.load > quietLoad) say('WARNING: this machine is busy; what follows is noisy at best.');
  const heads = await namedHeads();
  const targets = new StartedTargets(environment, 1, ownNode);
  const wanted: Target[] = [nginxMap, gateway];
  if (values.against !== undefined) {
    const build = buildAgainst(values.against, join(environment.dir, 'against'));
    wanted.push(gatewayBuiltAt(build.program, 'gateway-against', build.title));
  }
  for (const target of wanted) {
    const { skipped } = await targets.start(target);
    if (skipped !== undefined) say(`${target.name}: ${skipped}`);
  }
  const rows: string[][] = [];
  for (const { name, head } of heads) {
    const costs: string[] = [];
    for (const { running } of targets.targets) {
      await send(running.port, head, Number(values.requests) / 4);
      const before = usageOf(running.proxyPids).cpuMs;
      await send(running.port, head, Number(values.requests));
      const us = ((usageOf(running.proxyPids).cpuMs - before) * 1_000) / Number(values.requests);
      costs.push(us.toFixed(0));
    }
    rows.push([name, String(sizeOf(head)), ...costs]);
  }
  await targets.stop();
  say(table(['head, without a key', 'bytes', ...targets.targets.map(({ name }) => `${name}: CPU µs`)], rows));
}

/** Those of the portal, which the measured gateways do not have, are only said. */
async function namedHeads(): Promise<NamedHead[]> {
  const ordinary: NamedHead = {
    name: 'GET /v1/orders/17?page=2',
    head: { target: '/v1/orders/17?page=2', rawHeaders: ['Accept', '*/*', 'User-Agent', 'curl/8.0'] },
  };
  const known = costliestTargets.flatMap((piece): NamedHead[] =>
    [1_000, mostBytes - 100].map((bytes) => ({
      name: `/(${piece})…`,
      head: { target: `/${piece.repeat(bytes / piece.length)}`, rawHeaders: [] },
    })),
  );
  const ends: (() => unknown)[] = [];
  const listeners = await startHeadListeners({ teardown: (end) => ends.push(end) });
  const found: NamedHead[] = [];
  for (const listener of listeners) {
    for (let seed = 1; seed <= Number(values.seeds); seed++) {
      const one = await searched(listener, seed);
      if (listener.name !== 'the portal') found.push(one);
    }
  }
  for (const end of ends.reverse()) await end();
  return [ordinary, ...known, ...found];
}

/** Searches by the processor time of this process, which is client and gateway. */
async function searched({ name, starts, ask }: HeadListener, seed: number): Promise<NamedHead> {
  const cost = async (head: HostileHead): Promise<number> => {
    let least = Infinity;
    for (let round = 0; round < 3; round++) {
      const before = process.cpuUsage();
      for (let i = 0; i < 5; i++) await ask(head);
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, (user + system) / 5);
    }
    return least;
  };
  const { head, cost: us } = await dearestHead(
    new Random(seed),
    cost,
    Number(values.rounds),
    mostBytes,
    starts,
  );
  say(`${name}, seed ${seed}: ${us.toFixed(0)} µs with its client: ${JSON.stringify(head).slice(0, 200)}`);
  return { name: `${name}: found by search ${seed}`, head };
}

/** Sends a head so many times, one after the other, on as few connections as the other end allows. */
async function send(port: number, { target, rawHeaders }: HostileHead, times: number): Promise<void> {
  const lines = rawHeaders.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  const bytes = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: gateway\r\n${lines}\r\n`, 'latin1');
  let socket: Socket | undefined;
  for (let i = 0; i < times; i++) {
    if (socket === undefined || socket.destroyed || !socket.writable) {
      socket = connect(port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
    }
    socket.write(bytes);
    if ((await wholeResponse(socket)).isLast) socket.destroy();
  }
  socket?.destroy();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
