// class: app
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { addUsage, april, hour, usageRow } from '../../support/usage-rows.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t);

t.test('a report is paged, over the period of its first page', async (t) => {
  let now = april + 5 * hour;
  const apis = await startApis(t, { clock: { wallMs: () => now, monotonicMs: () => 0 } });
  const parent = await apis.parent();
  await addUsage(
    apis,
    [0, 1, 2, 3, 4].map((i) => usageRow(parent.id, april + i * hour, { requests: i + 1 })),
  );
  const seen: number[] = [];
  let cursor = '';
  for (let page = 0; page < 3; page++) {
    const { status, body } = await parent.call('GET', `/usage?granularity=hour&limit=2${cursor}`);
    t.equal(status, 200);
    t.match(body, { from: '2026-04-01T00:00:00.000Z', to: '2026-04-01T06:00:00.000Z', has_more: page < 2 });
    seen.push(...(body['data'] as { requests: number }[]).map(({ requests }) => requests));
    cursor = `&cursor=${String(body['next_cursor'])}`;
    now += 3 * hour;
  }
  t.same(seen, [5, 4, 3, 2, 1]);

  const { body } = await parent.call('GET', '/usage?granularity=hour&limit=1');
  const first = String(body['next_cursor']);
  for (const query of [
    '',
    'granularity=day',
    'granularity=hour&group_by=api_key',
    'granularity=hour&from=2026-04-01',
  ]) {
    t.match(await parent.call('GET', `/usage?${query}&cursor=${first}`), {
      status: 400,
      body: { errors: [{ pointer: '?cursor' }] },
    });
  }
});

t.test('a made-up position is rejected and never an error of ours', async (t) => {
  const parent = await apis.parent();
  for (let i = 0; i < 2; i++) await addUsage(apis, [usageRow(parent.id, april + i * hour, { requests: 1 })]);
  const path = '/usage?from=2026-04-01&to=2026-04-02&granularity=hour&group_by=api_key&limit=1';
  const { body } = await parent.call('GET', path);
  const [version, list, position] = JSON.parse(
    Buffer.from(String(body['next_cursor']), 'base64url').toString(),
  ) as [number, string, string];
  const follow = (made: string) =>
    parent.call(
      'GET',
      `${path}&cursor=${Buffer.from(JSON.stringify([version, list, made])).toString('base64url')}`,
    );
  t.equal((await follow(position)).status, 200, 'the control');
  const [from = '', to = '', ...after] = position.split(' ');
  for (const made of [
    '',
    'x',
    `${from} ${to}`,
    `${from} ${to} `,
    `${from} ${to} x`,
    `${to} ${from} ${after.join(' ')}`,
    `0 99999999999999 ${after.join(' ')}`,
    `${from}1 ${to}1 ${after.join(' ')}`,
    `${from} ${to} ${'-'.repeat(36)} 0 ${'-'.repeat(36)}`,
    `${from} ${to} ${parent.id} 999999999999999 ${parent.id}`,
    `${from} ${to} ${parent.id} -999999999999999 ${parent.id}`,
    `${from} ${to} ${parent.id} 0 ' or 1=1`,
    `${from} ${to} ${after.join(' ')}\u0000`,
  ]) {
    t.equal((await follow(made)).status, 400, made);
  }
});
