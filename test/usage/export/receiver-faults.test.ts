// class: app
/** The export of usage to a receiver that fails, hangs or rejects; time is the test's. */
import t from 'tap';
import type { AccountId } from '../../../src/domain/ids.ts';
import { createSub } from '../../support/store.ts';
import { exporting, prepare, secret, twoAccounts } from '../../support/usage-exporter.ts';
import { eventually } from '../../support/eventually.ts';

const minute = 60_000;

t.test('after a failure it is tried again, later each time, and goes on where it was', async (t) => {
  const made = await exporting(t, { batchSize: 2 });
  const { receiver, ended, time, told, next, exporter } = made;
  const subs = await moreAccounts(made, 5);
  await made.used(subs);
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
    const { receiver, used, sub, ended, time, told, next } = await exporting(t);
    await used([sub]);
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
  const made = await exporting(t);
  const { receiver, told, round, next } = made;
  const subs = await moreAccounts(made, 7);
  await made.used(subs);
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
  await made.used(subs, 1);
  await next();
  await eventually(() => told.failed === 1);
  t.equal(told.rejected, 1, 'a receiver that rejects all has a fault of its own: nothing is left out');
  receiver.respond = () => 204;
  await round();
  t.equal(receiver.accepted.size, 13);
});

t.test('of the secret nothing is told, wherever it stands in what the receiver says', async (t) => {
  const { receiver, used, sub, ended, told, next } = await exporting(t);
  await used([sub]);
  const texts = [
    ...[0, 280, 290, 299].map((before) => ' '.repeat(before) + secret),
    // Replaced, this is short: what is told goes up to where reading ends, within a secret.
    ...[1, 9, 15].map((more) => secret.repeat(255) + ' '.repeat(more) + secret),
  ];
  for (const [i, text] of texts.entries()) {
    receiver.respond = (_push, response) => {
      response.writeHead(500).end(text);
      return undefined;
    };
    await next();
    await eventually(() => told.failed === i + 1);
    await ended();
    const { err } = told.lines.at(-1)?.[0] as { readonly err: Error };
    t.match(err.message, /^the receiver responded with 500/);
    t.notMatch(err.message, /om|Bea/, `text ${i}`);
  }
});

t.test('what the receiver asks for with Retry-After is kept by all replicas', async (t) => {
  const { store, sql, receiver, used, start } = await prepare(t);
  const { sub } = await twoAccounts(store);
  const [one, two] = [start(), start()];
  await Promise.all([one.ended(), two.ended()]);
  await used([sub]);
  receiver.respond = (_push, response) => {
    response.writeHead(429, { 'Retry-After': '900' }).end();
    return undefined;
  };
  await one.next();
  await one.ended();
  t.equal(one.told.failed, 1);
  for (let i = 0; i < 3; i++) await two.round();
  t.equal(receiver.pushes.length, 1);
  const [left] = await sql<{ s: number }[]>`
    select extract(epoch from held_until - clock_timestamp())::int as s from usage_export`;
  t.ok((left?.s ?? 0) > 600 && (left?.s ?? 0) <= 900, `${left?.s} s are left`);
  await one.exporter.stop();
  await two.round();
  t.equal(receiver.pushes.length, 1, 'nor does it end with the replica');
  // The time has passed.
  await sql`update usage_export set held_until = clock_timestamp() - interval '1 s'`;
  receiver.respond = () => 204;
  await two.round();
  t.equal(receiver.accepted.size, 1);
});

/** Further sub-accounts of the parent. */
async function moreAccounts({ store, parent }: Awaited<ReturnType<typeof exporting>>, count: number) {
  const subs: string[] = [];
  while (subs.length < count) subs.push((await createSub(store.tenants, parent as AccountId)).value.id);
  return subs;
}
