/** Events while replicas are killed and lose their connections: none too few, none too many, in order. */
import type { Test } from 'tap';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../../support/coherence/random.ts';
import { configFile } from '../../../support/config-files.ts';
import type { Asked } from '../../../support/events/gateways.ts';
import { randomChanges } from '../../../support/events/random-changes.ts';
import { httpClient, type Call } from '../../../support/http-client.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { becomes, cli, startProcess } from '../../../support/process.ts';
import { migrated } from '../../../support/store.ts';
import { TcpProxy } from '../../../support/tcp-proxy.ts';
import { startUpstream } from '../../../support/upstreams.ts';

/** Changes between two faults. */
const faultEvery = 75;

const operators = [
  { name: 'operator', token: 'operator-token-of-the-event-test-0123' },
  { name: 'alice', token: 'token-of-alice-for-the-event-test-0123' },
  { name: 'bob', token: 'token-of-bob-for-the-event-test-012345' },
];

/** Makes random changes through three replicas with faults, and compares the events with them. */
export async function eventsUnderFaults(t: Test, changes: number, seed: number): Promise<void> {
  const databaseUrl = await freshDatabase(t, migrated);
  const [operator, ...named] = operators;
  const tokens = named.map(({ name, token }) => `    ${name}: ${token}\n`).join('');
  const shared = {
    UPSTREAM_URL: (await startUpstream(t)).url,
    ADMIN_TOKEN: operator?.token ?? '',
    CONFIG: configFile(
      t,
      `internal:\n  admin_tokens:\n${tokens}limits: {changes_per_second: 0, reads_per_second: 0, max_event_loop_delay_ms: 0}\n`,
    ),
    COHERENCE_LEASE_MS: '1000',
    LOG_LEVEL: 'error',
  };
  const replicas = await Promise.all(
    operators.map(async () => {
      const proxy = await TcpProxy.open(t, databaseUrl);
      return { proxy, process: await startProcess(t, { ...shared, DATABASE_URL: proxy.url }) };
    }),
  );
  await Promise.all(replicas.map(({ process }) => becomes(process.internalUrl, 200)));
  const gateways = replicas.map(({ process }): Asked => {
    const internal = httpClient(t, process.internalUrl);
    const asOperator: Call = (method, path, more) => internal(method, `/admin/v1${path}`, more);
    return {
      call: httpClient(t, process.url),
      operator: asOperator,
      cli: (token, ...args) =>
        cli({ INTERNAL_PORT: process.env['INTERNAL_PORT'] ?? '', ADMIN_TOKEN: token }, ...args),
    };
  });

  const random = new Random(seed);
  let [busy, made, kills, cuts] = [true, 0, 0, 0];
  const faults = (async () => {
    while (busy) {
      if (made < (kills + cuts + 1) * faultEvery) {
        await sleep(20);
        continue;
      }
      const replica = random.pick(replicas);
      if ((kills + cuts) % 2 === 0) {
        replica.proxy.cut();
        cuts += 1;
        continue;
      }
      await replica.process.program.kill('SIGKILL');
      replica.process = await startProcess(t, replica.process.env);
      await becomes(replica.process.internalUrl, 200);
      kills += 1;
    }
  })();
  const began = performance.now();
  try {
    let told = 0;
    // The runner ends a file that asserts nothing for some minutes.
    const onProgress = (count: number): void => {
      made = count;
      if (made >= told + 500) t.pass(`${(told = made)} events`);
    };
    await randomChanges(t, { gateways, operators, seed, changes, parents: 8, cliShare: 0.05, onProgress });
  } finally {
    busy = false;
  }
  await faults;
  t.comment(`${kills} kills, ${cuts} cuts, ${Math.round((performance.now() - began) / 1000)} s`);
  t.ok(kills > 0 && cuts > 0, 'there were faults');
}
