// class: app
/** The export of usage from a real store to a real receiver; time is the test's. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { hourMs } from '../../../src/domain/usage.ts';
import { exporting, may, prepare, secret, twoAccounts } from '../../support/usage-exporter.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';

t.test('each account has one event for an hour, once the hour is complete', async (t) => {
  const { store, receiver, through, parent, sub, round, told, exporter } = await exporting(t);
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
          units: 0,
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
  const { store, sql, receiver, through, sub, round, told } = await exporting(t);
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
  const sums = [...receiver.accepted.values()].map(({ data }) => Number(data['requests']));
  t.equal(
    sums.reduce((all, each) => all + each),
    4,
  );
  t.same(told.exported, { hour: 1, correction: 2 });
  await round();
  t.equal(receiver.pushes.length, 3);
});

t.test('of several replicas one exports, and another goes on after it', async (t) => {
  const { store, receiver, used, start } = await prepare(t, { batchSize: 1 });
  const { parent, sub } = await twoAccounts(store);
  const [one, two] = [start(), start()];
  await Promise.all([one.ended(), two.ended()]);
  await used([sub, parent]);
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
  const settings = { format: 'single', subject: 'external_id' } as const;
  const { receiver, used, parent, sub, round } = await exporting(t, settings);
  await used([sub, parent]);
  await round();
  const headers = { 'content-type': 'application/cloudevents+json' };
  t.match(receiver.pushes, [{ headers }, { headers }]);
  const subjects = receiver.pushes.map(({ events }) => events.map(({ subject }) => subject));
  t.same(new Set(subjects.flat()), new Set([parent, 'ada']), 'several requests are under way at a time');
});

t.test('hours that were deleted before they could be exported are told, and passed over', async (t) => {
  const { sql, receiver, used, sub, round, told } = await exporting(t);
  await sql`update usage_kept set hours_from = ${new Date(may + 24 * hourMs)}`;
  await used([sub], 24);
  await round();
  t.match(told.lines[0], [
    { from: '2023-05-01T00:00:00.000Z', to: '2023-05-02T00:00:00.000Z' },
    'hours of usage were deleted before they were exported',
  ]);
  t.equal(receiver.accepted.size, 1);
});
