// class: app
/** Events that the receiver rejects, alone in their batch or with nothing behind them: which of the two has the fault. */
import t from 'tap';
import { hourMs } from '../../../src/domain/usage.ts';
import { exporting, may } from '../../support/usage-exporter.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';
import type { ReceivedPush } from '../../support/usage-receiver.ts';

/** Responds as a receiver that does not know an account. */
const without =
  (unknown: string, status = 400) =>
  ({ events }: ReceivedPush): number =>
    events.some(({ subject }) => subject === unknown) ? status : 204;

for (const status of [400, 404])
  t.test(
    `an account that the receiver does not know holds no other up, though it is alone in its batch: ${status}`,
    async (t) => {
      const { receiver, used, parent, sub, told, round } = await exporting(t, { batchSize: 1 });
      receiver.respond = without(parent, status);
      await used([parent, sub]);
      await round();
      t.match([...receiver.accepted.values()], [{ subject: sub }]);
      t.equal(told.rejected, 1);
      t.equal(told.failed, 0);
      t.match(told.lines[0], [
        { event: { subject: parent }, err: { status } },
        'the receiver of usage rejects an event; it is left out',
      ]);
    },
  );

t.test(
  'with nothing behind it an event is tried again, and left out once a later one is accepted',
  async (t) => {
    const { receiver, used, parent, sub, ended, told, round, next, exporter } = await exporting(t);
    receiver.respond = without(sub);
    await used([sub]);
    await next();
    await ended();
    t.same([told.failed, told.rejected], [1, 0]);
    t.ok(exporter.lagMs() > 0);
    await used([parent], 1);
    await round();
    t.same([told.failed, told.rejected], [1, 1]);
    t.match([...receiver.accepted.values()], [{ subject: parent }]);
    const pushed = receiver.pushes.length;
    await round();
    t.equal(receiver.pushes.length, pushed, 'it is not tried any more');
  },
);

t.test(
  'with nothing behind it for an hour an event is left out; a receiver with a fault of its own is waited for',
  async (t) => {
    const { receiver, used, sub, ended, told, next, time } = await exporting(t);
    await used([sub]);
    const tries = async (most: number): Promise<number> => {
      let waitedMs = 0;
      for (let i = 0; i < most; i++) {
        await next();
        await ended();
        waitedMs += time.nextMs ?? 0;
      }
      return waitedMs;
    };
    receiver.respond = () => 401;
    await tries(10);
    receiver.respond = () => 404;
    await tries(20);
    t.equal(told.failed, 30);
    t.equal(told.rejected, 0, 'its address may be wrong');
    receiver.respond = () => 400;
    const waitedMs = await tries(12);
    t.equal(told.failed, 42);
    t.equal(told.rejected, 0);
    t.ok(waitedMs >= hourMs, `${waitedMs} ms`);
    await tries(1);
    t.same([told.failed, told.rejected], [42, 1]);
    await used([sub], 1);
    await tries(1);
    t.same([told.failed, told.rejected], [43, 1], 'each has its own tries');
    receiver.respond = () => 204;
    await tries(1);
    t.equal(receiver.accepted.size, 1);
  },
);

t.test('after a thousand that are rejected in a row it is the receiver that is broken', async (t) => {
  const { store, receiver, through, sub, ended, told, next } = await exporting(t);
  receiver.respond = () => 400;
  const hours = 1_010;
  await addUsage(
    { store },
    Array.from({ length: hours }, (_, i) => usageRow(sub, may + i * hourMs, { requests: 1 })),
  );
  await through(may + hours * hourMs);
  await next();
  await ended();
  t.same([told.failed, told.rejected], [1, 0]);
  const tried = new Set(receiver.pushes.flatMap(({ events }) => events.map(({ id }) => id)));
  t.equal(tried.size, 1_000);
});

t.test('events of several hours are pushed together where there are few in each', async (t) => {
  const { store, receiver, through, parent, sub, told, round } = await exporting(t, { batchSize: 2 });
  await addUsage({ store }, [
    usageRow(sub, may, { requests: 1 }),
    usageRow(parent, may + 2 * hourMs, { requests: 2 }),
    usageRow(sub, may + 2 * hourMs, { requests: 3 }),
  ]);
  await through(may + 4 * hourMs);
  await round();
  t.match(
    receiver.pushes.map(({ events }) => events.map(({ data }) => data['requests'])),
    [[1, 2], [3]],
  );
  t.match(told.lines.at(-1), [{ events: 3, through: '2023-05-01T04:00:00.000Z' }, 'usage was exported']);
  await round();
  t.equal(receiver.pushes.length, 2);
});
