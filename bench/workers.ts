/** CPU a request of one gateway process, and of as many workers as asked for, in turn. `npm run bench:workers -- --help` */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { usageOf } from './lib/proc.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { startWorkers, type WorkersProcess } from '../test/support/workers.ts';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '1000' },
    connections: { type: 'string', default: '32' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(
    'npm run bench:workers -- [--workers 2] [--rounds 7] [--seconds 5] [--rate 1000] [--connections 32]\n',
  );
  process.exit();
}
const ends: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => void ends.unshift(end) };

// Where tests look for the server that their runner starts.
process.env['TEST_POSTGRES_URL'] = (await startPostgres(scope)).url;
const upstream = createServer((_request, response) => response.end('ok'));
await once(upstream.listen(0, '127.0.0.1'), 'listening');
scope.teardown(() => upstream.close().closeAllConnections());
const UPSTREAM_URL = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;

const counts = ['1', values.workers];
const targets: (WorkersProcess & { readonly workers: string; readonly us: number[] })[] = [];
for (const workers of counts) {
  const started = await startWorkers(scope, { UPSTREAM_URL, LOG_LEVEL: 'warn' }, Number(workers));
  targets.push({ ...started, workers, us: [] });
}
for (let round = 0; round <= Number(values.rounds); round++) {
  for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
    const us = await measure(target);
    // The first round warms up.
    if (round > 0) target.us.push(us);
    process.stderr.write(`round ${round}, ${target.workers} workers: ${us.toFixed(0)} µs\n`);
  }
}
const [one, several] = targets.map(({ us }) => median(us)) as [number, number];
for (const { workers, us } of targets)
  process.stdout.write(
    `${workers} workers: median ${median(us).toFixed(1)} µs of CPU a request, ${Math.min(...us).toFixed(0)} to ${Math.max(...us).toFixed(0)}\n`,
  );
process.stdout.write(`ratio of the medians ${(several / one).toFixed(3)}\n`);
for (const end of ends) await end();

/** CPU of the gateway's processes, microseconds a request. */
async function measure({ url, key, program }: WorkersProcess): Promise<number> {
  const pool = new Pool(url, { connections: Number(values.connections), pipelining: 1 });
  const pid = program.child.pid as number;
  const send = async (): Promise<void> => {
    const { statusCode, body } = await pool.request({
      path: '/x',
      method: 'GET',
      headers: { authorization: `Bearer ${key}` },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  };
  // All connections, before anything is counted.
  await Promise.all(Array.from({ length: Number(values.connections) }, send));
  const [began, before] = [performance.now(), usageOf([pid]).cpuMs];
  const underWay: Promise<void>[] = [];
  const total = Number(values.rate) * Number(values.seconds);
  while (underWay.length < total) {
    const due = Math.min(total, ((performance.now() - began) / 1000) * Number(values.rate));
    while (underWay.length < due) underWay.push(send());
    await sleep(5);
  }
  await Promise.all(underWay);
  const us = ((usageOf([pid]).cpuMs - before) * 1000) / total;
  await pool.close();
  return us;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}
