// class: app
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { UsageEvent } from '../../../src/domain/usage-event.ts';
import { systemTimers } from '../../../src/ports/timers.ts';
import { openReceiver } from '../../../src/usage/export/receiver.ts';
import { usageReplay } from '../../../src/usage/export/replay.ts';
import { startApis } from '../../support/apis.ts';
import { freshStore } from '../../support/store.ts';
import { addUsage, april, hour, usageRow } from '../../support/usage-rows.ts';
import { startUsageReceiver } from '../../support/usage-receiver.ts';

const period = { from: '2026-03-31', to: '2026-04-02' };

async function prepare(t: Test) {
  const { store } = await freshStore(t);
  const receiver = await startUsageReceiver(t);
  const config = {
    url: receiver.url,
    format: 'batch',
    batchSize: 100,
    subject: 'id',
    timeoutMs: 10_000,
  } as const;
  const connect = () => openReceiver(config, { authorization: 'Bearer om_secret', ca: null }, systemTimers);
  const apis = await startApis(t, {
    store,
    deps: { usageReplay: usageReplay({ store: store.usageExport, usage: store.usage, config, connect }) },
  });
  const close = () =>
    store.usageExport.begin({ holder: randomUUID(), leaseMs: -1, delayMs: 0, lostAfterMs: 1_000 });
  const call = (body: object) => apis.operator('POST', '/usage/export', { body });
  /** Every page. */
  const all = async (body: object) => {
    const [events, rejected]: [UsageEvent[], string[]] = [[], []];
    for (let cursor: unknown; cursor !== null;) {
      const page = await call({ ...body, ...(cursor !== undefined && { cursor }) });
      t.equal(page.status, 200, page.text);
      events.push(...(page.body['data'] as UsageEvent[]));
      rejected.push(...(page.body['rejected'] as string[]));
      cursor = page.body['next_cursor'];
    }
    return { events, rejected };
  };
  return { store, receiver, apis, close, call, all };
}

t.test('hours are exported again with the same ids and counts, corrections after them', async (t) => {
  const { receiver, apis, close, all } = await prepare(t);
  const parent = await apis.parent();
  const subs: string[] = [];
  for (let i = 0; i < 30; i++) subs.push((await parent.create()).id);
  const rows = subs.flatMap((id) =>
    [0, 5, 23].map((i) => usageRow(id, april + i * hour, { requests: i + 1 })),
  );
  await addUsage(apis, rows);
  await close();
  await addUsage(apis, [usageRow(parent.id, april, { requests: 3 })]);
  await close();
  const shown = await all({ ...period, dry_run: true });
  t.equal(receiver.pushes.length, 0, 'nothing is sent where events are only to be shown');
  t.equal(shown.events.length, 91);
  t.match(shown.events.at(-1), { subject: parent.id, data: { requests: 3, correction: true } });
  t.equal(new Set(shown.events.map(({ id }) => id)).size, 91);
  t.same(await all(period), shown);
  t.same((await all(period)).events, shown.events);
  t.same([...receiver.accepted.values()], shown.events);
  t.equal(receiver.pushes[0]?.headers.authorization, 'Bearer om_secret');
  const one = await all({ from: '2026-04-01T05:00:00Z', to: '2026-04-01T06:00:00Z', dry_run: true });
  t.equal(one.events.length, 30);
  t.ok(one.events.every(({ data }) => data['requests'] === 6));
});

t.test('what the receiver rejects is named, and one that takes nothing is told as such', async (t) => {
  const { receiver, apis, close, call, all } = await prepare(t);
  const parent = await apis.parent();
  const child = await parent.create();
  await addUsage(
    apis,
    [parent.id, child.id].map((id) => usageRow(id, april, { requests: 1 })),
  );
  await close();
  receiver.respond = ({ events }) => (events.some(({ subject }) => subject === child.id) ? 422 : 204);
  t.same((await all(period)).rejected, [`${child.id}/2026-04-01T00`]);
  receiver.respond = () => 400;
  t.equal((await all(period)).rejected.length, 2, 'where it wants none of them it goes on as well');
  receiver.respond = (_push, response) => {
    response.writeHead(401).end('who are you with Bearer om_secret?');
    return undefined;
  };
  const { status, body, text } = await call(period);
  t.equal(status, 502);
  t.equal(body['code'], 'upstream_unreachable');
  t.match(body['detail'], /the receiver responded with 401: who are you with …\?/);
  t.notMatch(text, /om_secret/);
});

t.test('periods that cannot be exported are rejected', async (t) => {
  const { store, close, call, apis } = await prepare(t);
  const pointerOf = async (body: object): Promise<unknown> => {
    const { status, body: problem } = await call(body);
    t.equal(status, 400);
    return (problem['errors'] as { pointer: string }[])[0]?.pointer;
  };
  t.equal(await pointerOf(period), '/to', 'before anything was exported');
  await addUsage(apis, [usageRow((await apis.parent()).id, april, { requests: 1 })], april + 3 * hour);
  await store.usageExport.begin({ holder: randomUUID(), leaseMs: -1, delayMs: 0, lostAfterMs: 86_400_000 });
  t.equal(await pointerOf(period), '/to', 'hours that are not complete');
  t.equal(await pointerOf({ from: '2026-03-02', to: '2026-03-01' }), '/to');
  t.equal(await pointerOf({ from: '2025-01-01', to: '2026-03-01' }), '/from');
  t.equal(await pointerOf({ from: '2026-03-01T00:30:00Z', to: '2026-03-02' }), '/from');
  t.equal(await pointerOf({ from: '2026-03-01', to: '2026-03-02', cursor: 'x' }), '/cursor');
  t.equal(await pointerOf({ from: '2026-03-01', to: '2026-03-02', cursor: 'h1:' }), '/cursor');
  await close();
});

t.test('where usage is not exported there is nothing to export again', async (t) => {
  const apis = await startApis(t);
  const { status, body } = await apis.operator('POST', '/usage/export', { body: period });
  t.equal(status, 400);
  t.match(body['detail'], /has no `usage.export`/);
});
