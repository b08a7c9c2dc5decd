/**
 * What it costs to count: microseconds of processor time a request for its usage, in memory alone and with the journal. With
 * `--processes`: how fast so many processes add their counts to one PostgreSQL, if each request is for another account.
 *
 *     npm run bench:metering -- [--requests 300000] [--dir FOLDER]
 *     npm run bench:metering -- --processes 50 [--accounts 1000000] [--rate 150000] [--seconds 20] [--dir FOLDER]
 *
 * The functions are called as the gateway calls them: so many requests are counted in a turn of the event loop, the journal is
 * written once, and each notes its bytes and its outcome later. With the whole gateway around it:
 * `npm run bench -- --scenario small-get --only gateway`.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { AccountId, KeyId } from '../src/domain/ids.ts';
import type { UsedBy } from '../src/domain/usage.ts';
import { systemClock } from '../src/ports/clock.ts';
import { Journal } from '../src/usage/journal/journal.ts';
import { UsageRecorder } from '../src/usage/recorder.ts';
import { measureFleet } from './lib/counting-fleet.ts';
import { describeMachine, machineLine } from './machine.ts';
import { table } from './report/tables.ts';

/** Microseconds a request that counting may take, journal and all, at 64 connections. */
const budgetUs = 2;
/** Requests that go out in one turn of the event loop: an idle gateway's, a usual one's, a saturated one's. */
const turns = [1, 4, 16, 64] as const;
/** Keys in use. With more of them, fewer requests of a turn share a row. */
const keyCounts = [1, 1_000] as const;
const rounds = 5;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '300000' },
    dir: { type: 'string', default: tmpdir() },
    processes: { type: 'string', default: '0' },
    accounts: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '150000' },
    seconds: { type: 'string', default: '20' },
  },
});
const requests = Number(values.requests);

say(machineLine(describeMachine()));
if (values.processes !== '0') {
  const [processes, accounts, rate] = [values.processes, values.accounts, values.rate].map(Number);
  const fleet = { processes, accounts, rate } as { processes: number; accounts: number; rate: number };
  say(await measureFleet({ ...fleet, seconds: Number(values.seconds), mostMs: 110_000, dir: values.dir }));
  process.exit(0);
}
const rows: string[][] = [];
for (const keys of keyCounts) {
  for (const journaled of [false, true]) {
    const costs: number[] = [];
    for (const many of turns) costs.push(await best(() => measure(keys, journaled, many)));
    const name = `${journaled ? 'with the journal' : 'in memory alone'}, ${keys} key${keys === 1 ? '' : 's'}`;
    rows.push([name, ...costs.map((us) => us.toFixed(2))]);
  }
}
say(table(['µs a request', ...turns.map((many) => `${many} a turn`)], rows));
say(`The budget is ${budgetUs} µs at 64 connections; best of ${rounds} rounds.`);

async function best(measured: () => Promise<number>): Promise<number> {
  let us = Infinity;
  for (let round = 0; round < rounds; round++) us = Math.min(us, await measured());
  return us;
}

async function measure(keys: number, journaled: boolean, many: number): Promise<number> {
  const dir = mkdtempSync(join(values.dir, 'usage-'));
  const id = randomUUID();
  const lock = async () => (journaled ? { release: async () => undefined } : null);
  const journal = new Journal({ dir, id, mostBytes: 2 ** 40, lock });
  const store = {
    about: async () => ({ id: 'store', nowMs: Date.now() }),
    add: async ({ to }: { readonly to: number }) => ({ rowsIn: to, nowMs: Date.now() }),
  };
  const quiet = { error: () => undefined, warn: () => undefined, info: () => undefined };
  const timers = { after: () => () => undefined };
  const recorder = new UsageRecorder({
    store,
    journal,
    clock: systemClock,
    timers,
    logger: quiet,
    host: 'bench',
    keysPerAccountHour: 200,
  });
  await recorder.begin();
  const used = Array.from({ length: keys }, () => {
    const accountId = randomUUID() as AccountId;
    return { accountId, parentId: accountId, keyId: randomUUID() as KeyId };
  });
  const before = process.cpuUsage();
  for (let done = 0; done < requests; done += many) {
    const counted = Array.from({ length: many }, (_, i) => {
      const n = (done + i) % keys;
      return recorder.count(used[n] as UsedBy, 'read');
    });
    recorder.commit();
    for (const one of counted) {
      recorder.noteBytes(one, 0, 100);
      recorder.noteOutcome(one, 200);
    }
  }
  const { user, system } = process.cpuUsage(before);
  await recorder.stop();
  rmSync(dir, { recursive: true, force: true });
  return (user + system) / requests;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
