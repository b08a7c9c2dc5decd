// class: app
/** Reading events: a parent its own, an operator those of all parents, in pages, by filters. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import type { ShownEvent } from '../../support/events/event-reader.ts';
import { seenBy } from '../../support/events/shown.ts';

const apis = await startApis(t);

t.test('a parent reads its own events alone', async (t) => {
  const [parent, other] = [await apis.parent(), await apis.parent()];
  const { id } = await parent.create();
  const { id: foreign } = await other.create();
  const [own] = (await seenBy(parent)).slice(-1);
  const [others] = (await seenBy(other)).slice(-1);
  t.equal((await parent.call('GET', `/events/${own?.id ?? ''}`)).status, 200);
  const missing = await parent.call('GET', '/events/0197b7e0-0000-7000-8000-000000000000');
  t.match(missing, { status: 404, body: { code: 'not_found' } });
  for (const event of [others?.id ?? '', 'x', own?.id.slice(1) ?? '']) {
    const { body, status } = await parent.call('GET', `/events/${event}`);
    t.equal(status, 404);
    t.equal(body['detail'], missing.body['detail']);
  }
  t.same((await parent.call('GET', `/events?sub_account_id=${foreign}`)).body['data'], []);
  t.equal(
    ((await parent.call('GET', `/events?sub_account_id=${id}`)).body['data'] as ShownEvent[]).length,
    1,
  );
  t.match(await parent.call('GET', `/events?account_id=${other.id}`), { status: 400 });
});

t.test('lists are paged and filtered, and say what they do not understand', async (t) => {
  const parent = await apis.parent();
  const created = [];
  for (let i = 0; i < 4; i += 1) created.push(await parent.create());
  await created[1]?.act('deactivate');
  const all = (await seenBy(parent)).toReversed();
  t.equal(all.length, 7);

  for (const read of [
    (query: string) => parent.call('GET', `/events?${query}`),
    (query: string) => apis.operator('GET', `/events?account_id=${parent.id}&${query}`),
  ]) {
    const { body } = await read('limit=5');
    const next = await read(`limit=5&cursor=${String(body['next_cursor'])}`);
    t.same([body, next.body].map(({ data }) => data).flat(), (await read('')).body['data']);
    t.match(next.body, { data: all.slice(5).map(({ id }) => ({ id })), has_more: false });
    const types = async (query: string) =>
      ((await read(query)).body['data'] as ShownEvent[]).map(({ type }) => type);
    t.same(await types('type=sub_account.deactivated'), ['sub_account.deactivated']);
    t.same(await types(`sub_account_id=${created[1]?.id.toUpperCase() ?? ''}`), [
      'sub_account.deactivated',
      'sub_account.created',
    ]);
    const [newest] = all;
    t.equal((await types(`to=${newest?.created_at ?? ''}`)).includes('sub_account.deactivated'), false);
    t.equal((await types(`from=${newest?.created_at ?? ''}`))[0], 'sub_account.deactivated');
    t.same(await types('to=2020-01-01'), []);

    for (const bad of [
      ...['type=account.gone', 'from=yesterday', 'to=x', 'sub_account_id=x', 'limit=0', 'limit=101'],
      ...['from=2026-01-02&to=2026-01-02', 'from=2026-01-02&to=2026-01-01', 'cursor=x', 'unknown=1'],
    ])
      t.match(await read(bad), { status: 400, body: { code: 'invalid_request' } }, bad);
    const other = `type=account.created&cursor=${String(body['next_cursor'])}`;
    t.equal((await read(other)).status, 400);
  }
  t.match(await apis.operator('GET', '/events?account_id=x'), { status: 400 });
  t.match((await apis.operator('GET', '/events?limit=1')).body, {
    data: [{ id: all[0]?.id }],
    has_more: true,
  });
});
