// class: real
/** The export of usage by processes that are killed at random moments, to a receiver that is slow and fails now and then. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { hourMs } from '../../../src/domain/usage.ts';
import { operatorToken } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { cli, startProcess, tempFolder } from '../../support/process.ts';
import { createParent, createSub, freshStore } from '../../support/store.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';
import { startUsageReceiver } from '../../support/usage-receiver.ts';
import { Random, seedOfRun } from '../../support/coherence/random.ts';

const drawn = new Random(seedOfRun);

const kills = 6;
const hours = 40;

t.test(
  'every hour arrives with what was counted, however often the exporter is killed',
  { timeout: 900_000 },
  async (t) => {
    const { store, url, sql } = await freshStore(t);
    const { id: parent } = await createParent(store.tenants);
    const accounts = [parent];
    for (let i = 0; i < 11; i++) accounts.push((await createSub(store.tenants, parent)).value.id);
    const began = Math.floor(Date.now() / hourMs) * hourMs - (hours + 1) * hourMs;
    const rows = (requests: number) =>
      Array.from({ length: hours }, (_, i) =>
        accounts.map((id, n) =>
          usageRow(id, began + i * hourMs, { keyId: randomUUID(), requests: requests + n }),
        ),
      ).flat();
    await addUsage({ store }, rows(1));
    // As if it had been on since the first of these hours.
    await store.usageExport.begin({ holder: randomUUID(), leaseMs: -1, delayMs: 0, lostAfterMs: 1_000 });
    await sql`update usage_export set began = ${new Date(began)}, hour = ${new Date(began)}, held_until = '-infinity'`;
    // Late: corrections of each hour.
    await addUsage({ store }, rows(100));

    const receiver = await startUsageReceiver(t);
    let broken = 0;
    receiver.respond = (_push, response) => {
      const { length } = receiver.pushes;
      if (length % 41 !== 0) {
        setTimeout(() => response.writeHead(204).end(), 20);
        accept();
        return undefined;
      }
      broken += 1;
      // Some are accepted, and the sender is not told so.
      if (length % 2 === 0) accept();
      response.destroy();
      return undefined;
    };
    const accept = (): void => {
      for (const event of receiver.pushes.at(-1)?.events ?? []) {
        const name = `${event.source} ${event.id}`;
        const before = receiver.accepted.get(name);
        if (before === undefined) receiver.accepted.set(name, event);
        else t.same(event, before, 'an event that comes again is the same');
      }
    };

    const folder = tempFolder(t);
    const CONFIG = join(folder, 'gateway.yaml');
    writeFileSync(join(folder, 'authorization'), 'Bearer om_secret\n');
    writeFileSync(
      CONFIG,
      JSON.stringify({
        usage: {
          export: {
            url: receiver.url,
            authorization_file: join(folder, 'authorization'),
            batch_size: 5,
            timeout_ms: 1_000,
          },
        },
      }),
    );
    const env = { CONFIG, DATABASE_URL: url, UPSTREAM_URL: 'http://127.0.0.1:9', ADMIN_TOKEN: operatorToken };
    // What a killed replica leaves is its turn: the next one may take it when that has run out.
    const giveUpTurn = () => sql`update usage_export set held_until = '-infinity'`;
    for (let kill = 0; kill < kills; kill++) {
      const before = receiver.pushes.length;
      const { program } = await startProcess(t, env);
      await receiver.got(before + 10);
      await sleep(drawn.next() * 300);
      await program.kill('SIGKILL');
      await giveUpTurn();
    }
    const { program, internalUrl } = await startProcess(t, env);
    const expected = accounts.length * hours * 2;
    await eventually(() => receiver.accepted.size === expected, { limitMs: 300_000 });
    const sums = new Map<string, number>();
    for (const { subject, time, data } of receiver.accepted.values())
      sums.set(`${subject} ${time}`, (sums.get(`${subject} ${time}`) ?? 0) + Number(data['requests']));
    const counted = await sql<{ of: string; at: Date; requests: number }[]>`
    select account_id as of, hour as at, sum(requests)::int as requests from usage_hourly group by 1, 2`;
    t.same(
      sums,
      new Map(counted.map(({ of, at, requests }) => [`${of} ${at.toISOString()}`, requests])),
      'hours and their corrections add up to what was counted',
    );
    t.comment(
      `${receiver.pushes.length} requests for ${expected} events, ${broken} of them broken, ${kills} kills`,
    );

    const iso = (ms: number): string => new Date(ms).toISOString();
    const options = ['--from', iso(began), '--to', iso(began + 2 * hourMs)];
    const again = (...more: readonly string[]) =>
      cli({ ADMIN_TOKEN: operatorToken }, '--url', internalUrl, 'usage', 'export', ...options, ...more);
    const shown = (await again('--dry-run')).stdout.trim().split('\n');
    t.equal(shown.length, accounts.length * 2 * 2);
    const known = (event: { source: string; id: string }) =>
      receiver.accepted.has(`${event.source} ${event.id}`);
    t.ok(shown.every((line) => known(JSON.parse(line) as Parameters<typeof known>[0])));
    receiver.respond = () => 204;
    t.match((await again()).stdout, /Sent: 48 events\. Accepted: 48\./);
    t.equal(receiver.accepted.size, expected, 'the receiver knows them all');
    t.notMatch(program.stdout, /om_secret/);
    await program.kill('SIGTERM');
  },
);
