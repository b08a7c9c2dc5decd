/** The export of usage from a real store to a real receiver; time is the test's. */
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Store } from '../../../src/adapters/postgres/store.ts';
import type { UsageExportConfig } from '../../../src/config.ts';
import { hourMs } from '../../../src/domain/usage.ts';
import type { Timers } from '../../../src/ports/timers.ts';
import { UsageExporter } from '../../../src/usage/export/exporter.ts';
import { openReceiver } from '../../../src/usage/export/receiver.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';
import { eventually } from '../../support/eventually.ts';
import { createParent, createSub, freshStore, rawSql } from '../../support/store.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';
import { startUsageReceiver, type UsageReceiver } from '../../support/usage-receiver.ts';

const may = Date.UTC(2023, 4, 1);
const minute = 60_000;
const secret = 'Bearer om_secret';

async function prepare(t: Test, settings: Partial<UsageExportConfig> = {}) {
  const { store, url } = await freshStore(t);
  const receiver = await startUsageReceiver(t);
  const journal = randomUUID();
  /** The only replica has nothing from before `ms` left to add. */
  const through = async (ms: number): Promise<void> => {
    await store.usage.add({ journal, from: 0, to: 0, rows: [], throughMs: ms });
  };
  await through(may);
  return { store, sql: rawSql(t, url), receiver, through, start: () => start(t, store, receiver, settings) };
}

/** Starts an exporter; its first round is over when this resolves, unless the receiver keeps it waiting. */
function start(t: Test, store: Store, receiver: UsageReceiver, settings: Partial<UsageExportConfig>) {
  const config = {
    ...{ url: receiver.url, format: 'batch', batchSize: 100, timeoutMs: 10_000 },
    ...{ subject: 'id', delayMs: 0, authorizationFile: null, caFile: null },
    ...settings,
  } as const satisfies UsageExportConfig;
  const time = new ManualTime();
  const told = { exported: { hour: 0, correction: 0 }, rejected: 0, failed: 0, lines: [] as unknown[][] };
  const log = (...line: unknown[]): void => void told.lines.push(line);
  // The exporter itself waits between two rounds only.
  let waiting = false;
  const timers: Timers = {
    after: (ms, task) => {
      waiting = true;
      return time.timers.after(ms, () => {
        waiting = false;
        task();
      });
    },
  };
  const exporter = new UsageExporter({
    ...{ store: store.usageExport, usage: store.usage, config, id: randomUUID(), lostAfterMs: 86_400_000 },
    ...{ clock: time.clock, timers, logger: { info: log, warn: log, error: log } },
    connect: () => openReceiver(config, { authorization: secret, ca: null }, time.timers),
    onExported: (kind, events) => (told.exported[kind] += events),
    onRejected: () => (told.rejected += 1),
    onFailed: () => (told.failed += 1),
  });
  t.teardown(() => exporter.stop());
  exporter.start();
  /** Waits for the end of the round. */
  const ended = (): Promise<void> => eventually(() => waiting);
  return {
    ...{ exporter, time, told, ended },
    /** Has the next round, or whatever is due first, begin. */
    next: async (): Promise<void> => {
      await time.advance(time.nextMs ?? 0);
    },
    round: async (): Promise<void> => {
      await ended();
      await time.advance(time.nextMs ?? 0);
      await ended();
    },
  };
}

async function twoAccounts(store: Store): Promise<{ parent: string; sub: string }> {
  const { id: parent } = await createParent(store.tenants);
  const { value } = await createSub(store.tenants, parent, { externalId: 'ada' });
  return { parent, sub: value.id };
}

t.test('each account has one event for an hour, once the hour is complete', async (t) => {
  const { store, receiver, through, start } = await prepare(t);
  const { parent, sub } = await twoAccounts(store);
  const { round, ended, told, exporter } = start();
  await ended();
  t.equal(exporter.lagMs() > 0, true, 'the first hour is long over by the clock of this process');
  for (const requests of [1, 2])
    await addUsage({ store }, [
      usageRow(sub, may, { keyId: randomUUID(), requests, reads: requests, clientErrors: 1, bytesIn: 7 }),
    ]);
  await addUsage({ store }, [usageRow(parent, may + hourMs, { requests: 9, writes: 9 })]);
  await through(may + 2 * hourMs - 1);
  await round();
  t.equal(receiver.pushes.length, 1);
  const { id } = await store.usage.about();
  t.match(receiver.pushes[0], {
    method: 'POST',
    target: '/api/v1/events',
    headers: { 'content-type': 'application/cloudevents-batch+json', authorization: secret },
  });
  t.same(receiver.pushes[0]?.events, [
    {
      specversion: '1.0',
      type: 'tenancy-gateway.usage',
      source: `urn:uuid:${id}`,
      id: `${sub}/2023-05-01T00`,
      time: '2023-05-01T00:00:00.000Z',
      subject: sub,
      datacontenttype: 'application/json',
      data: {
        account_id: parent,
        sub_account_id: sub,
        external_id: 'ada',
        from: '2023-05-01T00:00:00.000Z',
        to: '2023-05-01T01:00:00.000Z',
        correction: false,
        ...{
          requests: 3,
          reads: 3,
          writes: 0,
          client_errors: 2,
          server_errors: 0,
          bytes_in: 14,
          bytes_out: 0,
        },
      },
    },
  ]);
  await through(may + 3 * hourMs);
  await round();
  t.match(receiver.pushes[1]?.events, [{ id: `${parent}/2023-05-01T01`, data: { requests: 9 } }]);
  await round();
  t.equal(receiver.pushes.length, 2, 'nothing is sent where there is nothing new');
  t.same(told.exported, { hour: 2, correction: 0 });
  t.match(told.lines, [
    [{ events: 1, corrections: 0, through: '2023-05-01T01:00:00.000Z' }, 'usage was exported'],
    [{ events: 1, corrections: 0, through: '2023-05-01T03:00:00.000Z' }, 'usage was exported'],
  ]);
});

t.test('what comes to an hour that was exported is sent as a correction, by itself', async (t) => {
  const { store, sql, receiver, through, start } = await prepare(t);
  const { sub } = await twoAccounts(store);
  const { round, ended, told } = start();
  await ended();
  const key = randomUUID();
  await addUsage({ store }, [usageRow(sub, may, { keyId: key, requests: 5 })]);
  await through(may + hourMs);
  await round();
  await addUsage({ store }, [usageRow(sub, may, { keyId: key, requests: 2 })]);
  await addUsage({ store }, [usageRow(sub, may - hourMs, { keyId: key, requests: 1 })]);
  await round();
  t.match(receiver.pushes[1]?.events, [
    { time: '2023-05-01T00:00:00.000Z', subject: sub, data: { requests: 2, correction: true } },
  ]);
  t.equal(receiver.pushes[1]?.events.length, 1, 'not of hours from before the export began');
  t.match(receiver.pushes[1]?.events[0]?.id, new RegExp(`^${sub}/2023-05-01T00/[0-9a-f-]{36}$`));
  await sql`update usage_hourly set requests = 4 where hour = ${new Date(may)}`;
  await round();
  t.match(receiver.pushes[2]?.events, [{ data: { requests: -3, correction: true } }], 'by hand, too');
  t.equal(sumOf(receiver, sub), 4);
  t.same(told.exported, { hour: 1, correction: 2 });
  await round();
  t.equal(receiver.pushes.length, 3);
});

t.test('after a failure it is tried again, later each time, and goes on where it was', async (t) => {
  const { store, receiver, through, start } = await prepare(t, { batchSize: 2 });
  const { id: parent } = await createParent(store.tenants);
  const subs: string[] = [];
  for (let i = 0; i < 5; i++) subs.push((await createSub(store.tenants, parent)).value.id);
  const { ended, time, told, next, exporter } = start();
  await ended();
  await addUsage(
    { store },
    subs.map((id, i) => usageRow(id, may, { requests: i + 1 })),
  );
  await through(may + hourMs);
  let broken = true;
  receiver.respond = () => (broken && receiver.pushes.length > 1 ? 500 : 204);
  await next();
  await ended();
  const pauses: (number | undefined)[] = [];
  for (let i = 0; i < 4; i++) {
    pauses.push(time.nextMs);
    await next();
    await ended();
  }
  t.same(pauses, [5_000, 10_000, 20_000, 40_000]);
  t.equal(told.failed, 5);
  t.equal(receiver.accepted.size, 2);
  t.ok(exporter.lagMs() > 0);
  t.match(told.lines.at(-1), [{ again_in_s: 80 }, 'usage cannot be exported; it is tried again']);
  t.notMatch(JSON.stringify(told.lines), /om_secret/);
  broken = false;
  await next();
  await ended();
  t.equal(receiver.accepted.size, 5);
  const first = receiver.pushes
    .flatMap(({ events }) => events)
    .filter(({ id }) => id.startsWith(subs[0] ?? ''));
  t.equal(first.length, 1, 'what was accepted is not sent again');
  t.equal(time.nextMs, minute);
});

t.test(
  'a receiver that does not respond is given up in time, and one that asks for a pause gets it',
  async (t) => {
    const { store, receiver, through, start } = await prepare(t);
    const { sub } = await twoAccounts(store);
    const { ended, time, told, next } = start();
    await ended();
    await addUsage({ store }, [usageRow(sub, may, { requests: 1 })]);
    await through(may + hourMs);
    receiver.respond = () => undefined;
    await next();
    await receiver.got(1);
    t.equal(time.nextMs, 10_000, 'the time of the receiver');
    await time.advance(10_000);
    await eventually(() => told.failed === 1);
    await ended();
    receiver.respond = (_push, response) => {
      response.writeHead(429, { 'Retry-After': '900' }).end('slow down');
      return undefined;
    };
    await next();
    await ended();
    await eventually(() => told.failed === 2);
    t.equal(time.nextMs, 900_000);
    t.match(told.lines.at(-1), [{ err: { message: 'the receiver responded with 429: slow down' } }]);
    receiver.respond = () => 202;
    await next();
    await ended();
    t.equal(receiver.accepted.size, 1);
  },
);

t.test('an event that the receiver rejects does not keep others from it, and is told', async (t) => {
  const { store, receiver, through, start } = await prepare(t);
  const { id: parent } = await createParent(store.tenants);
  const subs: string[] = [];
  for (let i = 0; i < 7; i++) subs.push((await createSub(store.tenants, parent)).value.id);
  const { ended, told, round, next } = start();
  await ended();
  await addUsage(
    { store },
    subs.map((id) => usageRow(id, may, { requests: 1 })),
  );
  await through(may + hourMs);
  receiver.respond = ({ events }) => (events.some(({ subject }) => subject === subs[3]) ? 400 : 204);
  await round();
  t.equal(receiver.accepted.size, 6);
  t.equal(told.rejected, 1);
  t.same(told.exported, { hour: 6, correction: 0 });
  t.match(told.lines[0], [
    { event: { subject: subs[3] } },
    'the receiver of usage rejects an event; it is left out',
  ]);

  receiver.respond = () => 400;
  await addUsage(
    { store },
    subs.map((id) => usageRow(id, may + hourMs, { requests: 1 })),
  );
  await through(may + 2 * hourMs);
  await next();
  await eventually(() => told.failed === 1);
  t.equal(told.rejected, 1, 'a receiver that rejects all has a fault of its own: nothing is left out');
  receiver.respond = () => 204;
  await round();
  t.equal(receiver.accepted.size, 13);
});

t.test('of several replicas one exports, and another goes on after it', async (t) => {
  const { store, receiver, through, start } = await prepare(t, { batchSize: 1 });
  const { parent, sub } = await twoAccounts(store);
  const [one, two] = [start(), start()];
  await Promise.all([one.ended(), two.ended()]);
  await addUsage({ store }, [usageRow(sub, may, { requests: 1 }), usageRow(parent, may, { requests: 1 })]);
  await through(may + hourMs);
  receiver.respond = () => undefined;
  await one.next();
  await receiver.got(1);
  await two.round();
  t.equal(receiver.pushes.length, 1, 'it is the turn of the first');
  receiver.respond = () => 204;
  await one.exporter.stop();
  await two.round();
  t.equal(receiver.accepted.size, 2, 'which leaves it to the others when it ends');
  t.equal(one.told.failed, 0, 'that is no failure');
});

t.test('single events, by external_id where there is one', async (t) => {
  const { store, receiver, through, start } = await prepare(t, { format: 'single', subject: 'external_id' });
  const { parent, sub } = await twoAccounts(store);
  const { ended, round } = start();
  await ended();
  await addUsage({ store }, [usageRow(sub, may, { requests: 1 }), usageRow(parent, may, { requests: 1 })]);
  await through(may + hourMs);
  await round();
  t.match(receiver.pushes, [
    { headers: { 'content-type': 'application/cloudevents+json' }, events: [{ subject: parent }] },
    { headers: { 'content-type': 'application/cloudevents+json' }, events: [{ subject: 'ada' }] },
  ]);
});

t.test('hours that were deleted before they could be exported are told, and passed over', async (t) => {
  const { store, sql, receiver, through, start } = await prepare(t);
  const { sub } = await twoAccounts(store);
  const { ended, round, told } = start();
  await ended();
  const day = 24 * hourMs;
  await sql`update usage_kept set hours_from = ${new Date(may + day)}`;
  await addUsage({ store }, [usageRow(sub, may + day, { requests: 1 })]);
  await through(may + day + hourMs);
  await round();
  t.match(told.lines[0], [
    { from: '2023-05-01T00:00:00.000Z', to: '2023-05-02T00:00:00.000Z' },
    'hours of usage were deleted before they were exported',
  ]);
  t.equal(receiver.accepted.size, 1);
});

function sumOf(receiver: UsageReceiver, subject: string): number {
  return [...receiver.accepted.values()]
    .filter((event) => event.subject === subject)
    .reduce((sum, { data }) => sum + Number(data['requests']), 0);
}
