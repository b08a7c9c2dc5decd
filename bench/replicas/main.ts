/**
 * How long a revoke waits for many replicas. Each of them is the gateway's own store and coherence, on connections of its
 * own to a real PostgreSQL; several share a process, and none serves requests. One after another, for each number of
 * replicas, the revokes a second go up until they take too long. Prints the table of `docs/maintainers/coherence.md`.
 *
 *     npm run bench:replicas -- [--replicas 3,10,25,50] [--rates 5,20,50,100] [--seconds 10]
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openPostgres } from '../../src/adapters/postgres/store.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { createParent, rawSql } from '../../test/support/store.ts';
import { usageOf } from '../lib/proc.ts';
import { describeMachine, machineLine, quietLoad } from '../machine.ts';
import { ms, quantile } from '../outages/figures.ts';
import { table } from '../report/tables.ts';
import { makeKeys, type KeyToRevoke } from './keys.ts';
import type { Counts, Revoked, Task } from './process.ts';

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '3,10,25,50' },
    rates: { type: 'string', default: '5,20,50,100' },
    seconds: { type: 'string', default: '10' },
  },
});
const numbers = (list: string): number[] => list.split(',').map(Number);
const seconds = Number(values.seconds);
first(process.pid);
const rates = numbers(values.rates);
/** As many as one PostgreSQL is said to do for 50 replicas. */
const maxConnections = Math.max(250, Math.ceil(2.4 * Math.max(...numbers(values.replicas))));
const processes = 2;
/** A rate is more than can be done where a revoke takes this long, in milliseconds. */
const tooLongMs = 1_000;

const ends: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => ends.unshift(end) };
try {
  await main();
} finally {
  for (const end of ends) await end();
}
process.exit();

async function main(): Promise<void> {
  const machine = describeMachine();
  print(machineLine(machine));
  if (machine.load > quietLoad) print('WARNING: this machine is busy; what follows is noisy at best.');
  const server = await startPostgres(scope, { fsync: 'on', max_connections: String(maxConnections) });
  const store = openPostgres({ url: server.url, maxConnections: 4 });
  ends.unshift(() => store.close());
  await store.migrate();
  const parent = (await createParent(store.tenants)).id;
  const sql = rawSql(scope, server.url);
  const [postmaster] = await sql<[{ pid: number }]>`
    select split_part(pg_read_file('postmaster.pid'), e'\n', 1)::int as pid`;
  first(postmaster.pid);

  const rows: string[][] = [];
  for (const replicas of numbers(values.replicas)) {
    const children = await Promise.all(
      Array.from({ length: processes }, (_, i) => start(server.url, share(replicas, i))),
    );
    for (const rate of rates) {
      const keys = await makeKeys(store, parent, rate * seconds + 20);
      for (const key of keys.splice(-20)) await children[0]?.revoke(key, performance.now());
      const pids = children.map(({ pid }) => pid);
      const before = { postgres: usageOf([postmaster.pid]), replicas: usageOf(pids) };
      const took = await atRate(children, keys, rate);
      const used = (pid: number[], then: { cpuMs: number }): string =>
        `${Math.round(((usageOf(pid).cpuMs - then.cpuMs) / took.lastedMs) * 100)} %`;
      const [{ count }] = await sql<[{ count: number }]>`
        select count(*)::int as count from pg_stat_activity
        where application_name = 'tenancy-gateway' and pid <> pg_backend_pid()`;
      const counts = await Promise.all(children.map((child) => child.counts()));
      rows.push([
        String(replicas),
        String(rate),
        ...[0.5, 0.99, 1].map((part) => ms(quantile(took.times, part))),
        String(took.errors.length),
        String(took.timedOut),
        String(counts.reduce((sum, { lapsed, failed }) => sum + lapsed + failed, 0)),
        used([postmaster.pid], before.postgres),
        used(pids, before.replicas),
        String(count),
      ]);
      print([...(rows.at(-1) ?? []), took.errors[0] ?? ''].join('  '));
      if (quantile(took.times, 0.99) > tooLongMs) break;
    }
    for (const child of children) await child.end();
  }
  print(
    `\n${table(['replicas', 'revokes/s', 'p50', 'p99', 'slowest', 'failed', 'timed out', 'leases lost', 'CPU PostgreSQL', 'CPU replicas', 'connections'], rows)}`,
  );
}

function share(replicas: number, i: number): number {
  return Math.floor((replicas + i) / processes);
}

/** A process with some of the replicas. */
interface Child {
  readonly pid: number;
  revoke(key: KeyToRevoke, dueMs: number): Promise<Revoked & { readonly tookMs: number }>;
  /** Leases that were lost since the last call. */
  counts(): Promise<Counts>;
  end(): Promise<void>;
}

async function start(url: string, replicas: number): Promise<Child> {
  const child = fork(new URL('process.ts', import.meta.url), [url, String(replicas)]);
  let ending = false;
  ends.unshift(() => {
    ending = true;
    child.kill('SIGKILL');
  });
  await once(child, 'message');
  first(child.pid ?? 0);
  child.once('exit', (code, signal) => {
    if (!ending) print(`a process of replicas ended by itself: ${code} ${signal}`);
  });
  const waiting = new Map<number, (revoked: Revoked) => void>();
  let onCounts: (counts: Counts) => void = () => undefined;
  child.on('message', (message: Revoked | Counts) => {
    if ('lapsed' in message) return onCounts(message);
    waiting.get(message.number)?.(message);
    waiting.delete(message.number);
  });
  let next = 0;
  return {
    pid: child.pid ?? 0,
    revoke: (key, dueMs) =>
      new Promise((resolve) => {
        const number = next++;
        waiting.set(number, (revoked) => resolve({ ...revoked, tookMs: performance.now() - dueMs }));
        send(child, { number, ...key });
      }),
    counts: () =>
      new Promise((resolve) => {
        onCounts = resolve;
        send(child, 'counts');
      }),
    end: async () => {
      ending = true;
      send(child, 'end');
      await once(child, 'exit');
    },
  };
}

function send(child: ChildProcess, task: Task): void {
  child.send(task);
}

/** Starts each revoke when it is due, whatever became of those before. */
async function atRate(
  children: readonly Child[],
  keys: readonly KeyToRevoke[],
  rate: number,
): Promise<{
  readonly times: number[];
  readonly errors: readonly string[];
  readonly timedOut: number;
  readonly lastedMs: number;
}> {
  const times: number[] = [];
  const errors: string[] = [];
  let timedOut = 0;
  const began = performance.now();
  const all = keys.map(async (key, i) => {
    const dueMs = began + (i * 1_000) / rate;
    await sleep(Math.max(0, dueMs - performance.now()));
    const revoked = await children[i % children.length]?.revoke(key, dueMs);
    if (revoked?.error === undefined) times.push(revoked?.tookMs ?? NaN);
    else errors.push(revoked.error);
    timedOut += revoked?.timedOut ?? 0;
  });
  await Promise.all(all);
  return { times, errors, timedOut, lastedMs: performance.now() - began };
}

/** What the machine does for itself is not to be measured. */
function first(pid: number): void {
  try {
    setPriority(pid, -20);
  } catch {
    // Not root.
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
