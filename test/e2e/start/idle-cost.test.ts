// class: built
/** What `npm start` costs a laptop: ports at once, memory, and the processor while nothing happens. Elapsed time is not asked for. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { formatSecret, secretRandomBytes } from '../../../src/domain/api-key.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { childrenOf, memoryOf, resetPeakMemory } from '../../support/processes.ts';
import { valueOf } from '../../support/scrape.ts';
import { eventually } from '../../support/eventually.ts';

const skip = process.platform !== 'linux' && 'NOT RUN: only Linux tells what a process costs';
/** What was promised; a quiet machine shows some 250 MiB and 1 %. */
const mostMib = 300;
/** More than the 2 % that were promised: a busy machine counts some of its other work towards this process. */
const mostOfACore = 0.05;
const renewals = 8;

t.test(
  'a first start listens before its store is made, gives back the memory, and idles',
  { skip },
  async (t) => {
    const { program, url, internalUrl } = await startProcess(t, { DATA_DIR: tempFolder(t) });
    const pid = program.child.pid as number;
    await becomes(internalUrl, 503, 'starting');
    t.equal((await fetch(`${url}/anything`, { headers })).status, 503, 'no key can be looked up yet');
    await program.prints(/making the embedded store/);
    await becomes(internalUrl, 200);
    resetPeakMemory(pid);
    await program.prints(/ext:ada.*\n/);
    t.same(childrenOf(pid), [], 'the process that made the store has ended');

    // At first, V8 compiles once more, and better, what is used most of the store, on threads of its own.
    let share = Infinity;
    await eventually(async () => (share = await shareWhileIdle(internalUrl, pid)) <= mostOfACore);
    const { peakMib } = memoryOf(pid);
    t.comment(`${peakMib} MiB at most, ${(share * 100).toFixed(1)} % of a core`);
    t.ok(peakMib <= mostMib, `${peakMib} MiB`);
  },
);

t.test('a port that is taken ends the start before a store is made, with a message for people', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await once(taken, 'listening');
  const dataDir = tempFolder(t);
  const PORT = String((taken.address() as { port: number }).port);
  const { program } = await startProcess(t, { DATA_DIR: dataDir, PORT });
  t.equal(await program.ended(), 1);
  t.match(program.stderr, /cannot listen on 127\.0\.0\.1:\d+: the port is taken/);
  t.notMatch(program.stdout, /making the embedded store/);
  t.same(readdirSync(join(dataDir, 'pglite')), []);
});

t.test(
  'SIGTERM while the store is being made ends both processes and leaves nothing half made',
  { skip },
  async (t) => {
    const dataDir = tempFolder(t);
    const { program } = await startProcess(t, { DATA_DIR: dataDir, DRAIN_DELAY_MS: '0' });
    await program.prints(/making the embedded store/);
    const [maker = 0] = await eventuallyChildren(program.child.pid as number);
    t.equal(await program.kill('SIGTERM'), 0);
    t.notOk(runs(maker));
    t.same(readdirSync(dataDir).sort(), ['admin-token', 'pglite']);
    t.same(readdirSync(join(dataDir, 'pglite')), []);
  },
);

/** Of a key that could be there. */
const headers = { authorization: `Bearer ${formatSecret('tgw', randomBytes(secretRandomBytes))}` };

async function eventuallyChildren(pid: number): Promise<number[]> {
  await eventually(() => childrenOf(pid).length > 0);
  return childrenOf(pid);
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The share of a core that a process takes while it renews its lease some times and does nothing else. */
async function shareWhileIdle(internalUrl: string, pid: number): Promise<number> {
  const [before, processorMs, beganMs] = [await renewed(internalUrl), processorMsOf(pid), performance.now()];
  await eventually(async () => (await renewed(internalUrl)) >= before + renewals, { everyMs: 1_000 });
  return (processorMsOf(pid) - processorMs) / (performance.now() - beganMs);
}

/** How often the process has renewed its lease, by its own count. */
const renewed = (internalUrl: string) =>
  valueOf(internalUrl, 'tenancy_gateway_lease_events_total{event="renewed"}');

/** Processor time of all threads of a process, in milliseconds: `utime` and `stime` of proc(5), in ticks of 10 ms. */
function processorMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
