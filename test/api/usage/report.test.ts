// class: app
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { addUsage, april, hour, usageRow } from '../../support/usage-rows.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t);

t.test('a report says what each account under the parent used, and no other account', async (t) => {
  const parent = await apis.parent();
  const other = await apis.parent();
  const child = await parent.create({ name: 'Child', external_id: 'child' });
  const foreign = await other.create();
  await addUsage(apis, [
    usageRow(child.id, april, {
      requests: 3,
      reads: 2,
      writes: 1,
      clientErrors: 1,
      serverErrors: 1,
      bytesIn: 10,
      bytesOut: 20,
      units: 30,
    }),
    usageRow(child.id, april + hour, { requests: 1 }),
    usageRow(parent.id, april, { requests: 5 }),
    usageRow(foreign.id, april, { requests: 100 }),
    usageRow(child.id, april - 1, { requests: 1000 }),
    usageRow(child.id, april + 24 * hour, { requests: 1000 }),
  ]);
  const response = await parent.call('GET', '/usage?from=2026-04-01&to=2026-04-02');
  t.match(response, {
    status: 200,
    body: {
      from: '2026-04-01T00:00:00.000Z',
      to: '2026-04-02T00:00:00.000Z',
      granularity: 'total',
      group_by: 'sub_account',
      complete_through: /^\d{4}-.*Z$/,
      has_more: false,
      next_cursor: null,
    },
  });
  const none = {
    reads: 0,
    writes: 0,
    client_errors: 0,
    server_errors: 0,
    bytes_in: 0,
    bytes_out: 0,
    units: 0,
  };
  const counted = { reads: 2, writes: 1, client_errors: 1, server_errors: 1, bytes_in: 10, bytes_out: 20 };
  const period_start = '2026-04-01T00:00:00.000Z';
  t.same(response.body['data'], [
    {
      ...{ sub_account_id: child.id, external_id: 'child', name: 'Child', period_start, requests: 4 },
      ...{ ...counted, units: 30 },
    },
    {
      ...{ sub_account_id: parent.id, external_id: null, name: 'Parent', period_start, requests: 5 },
      ...none,
    },
  ]);
});

t.test('by default a report covers this month until now', async (t) => {
  const now = april + 14 * 24 * hour + 1234;
  const apis = await startApis(t, { clock: { wallMs: () => now, monotonicMs: () => 0 } });
  const parent = await apis.parent();
  t.match((await parent.call('GET', '/usage')).body, {
    from: '2026-04-01T00:00:00.000Z',
    to: '2026-04-15T01:00:00.000Z',
    data: [],
    has_more: false,
  });
});

t.test('a report is split by hour, day or month, and by key', async (t) => {
  const parent = await apis.parent();
  const keys = [randomUUID(), randomUUID()].sort().reverse();
  await addUsage(apis, [
    usageRow(parent.id, april, { requests: 1, keyId: keys[0] }),
    usageRow(parent.id, april + hour, { requests: 2, keyId: keys[1] }),
    usageRow(parent.id, april + 24 * hour, { requests: 4, keyId: keys[0] }),
    usageRow(parent.id, april + 30 * 24 * hour, { requests: 8, keyId: keys[0] }),
  ]);
  const split = async (by: string): Promise<string[]> => {
    const { body } = await parent.call('GET', `/usage?from=2026-04-01T00:20:00Z&to=2026-05-02&${by}`);
    t.match(body, { from: '2026-04-01T00:00:00.000Z', to: '2026-05-02T00:00:00.000Z' });
    return (body['data'] as { period_start: string; api_key_id?: string; requests: number }[]).map(
      ({ period_start: start, api_key_id: key, requests }) => `${key ?? start.slice(5, 13)} ${requests}`,
    );
  };
  t.same(await split('granularity=hour'), ['05-01T00 8', '04-02T00 4', '04-01T01 2', '04-01T00 1']);
  t.same(await split('granularity=day'), ['05-01T00 8', '04-02T00 4', '04-01T00 3']);
  t.same(await split('granularity=month'), ['05-01T00 8', '04-01T00 7']);
  t.same(await split('granularity=total'), ['04-01T00 15']);
  t.same(await split('group_by=api_key'), [`${keys[0]} 13`, `${keys[1]} 2`]);
});

t.test(
  "a report of one account has its own usage, and another parent's account is as one that does not exist",
  async (t) => {
    const [parent, other] = [await apis.parent(), await apis.parent()];
    const [child, sibling, foreign] = [await parent.create(), await parent.create(), await other.create()];
    await addUsage(
      apis,
      [parent.id, child.id, sibling.id, foreign.id, other.id].map((id, i) =>
        usageRow(id, april + i * hour, { requests: i + 1 }),
      ),
    );
    const period = 'from=2026-04-01&to=2026-04-02&limit=1';
    for (const [id, requests] of [
      [parent.id, 1],
      [child.id, 2],
      [child.id.toUpperCase(), 2],
    ] as const) {
      const { body } = await parent.call('GET', `/usage?${period}&sub_account_id=${id}`);
      t.match(body, { data: [{ sub_account_id: id.toLowerCase(), requests }], has_more: false });
      const operators = await apis.operator('GET', `/usage?${period}&sub_account_id=${id}`);
      t.match(operators.body, { data: [{ account_id: parent.id, requests }], has_more: false });
    }
    for (const id of [foreign.id, other.id, randomUUID(), 'x', ''])
      t.equal((await parent.call('GET', `/usage?${period}&sub_account_id=${id}`)).status, 404, id);
    t.equal(
      (await apis.operator('GET', `/usage?${period}&account_id=${parent.id}&sub_account_id=${foreign.id}`))
        .status,
      404,
    );
    const { body } = await parent.call('GET', `/usage?from=2026-04-01&to=2026-04-02&limit=1`);
    const cursor = String(body['next_cursor']);
    t.equal(
      (await parent.call('GET', `/usage?${period}&sub_account_id=${child.id}&cursor=${cursor}`)).status,
      400,
      'a cursor of another report',
    );
  },
);

t.test('a period or a parameter that is wrong is rejected by name', async (t) => {
  const parent = await apis.parent();
  const rows: [string, string][] = [
    ['from=yesterday', '?from'],
    ['from=2026-01-01&from=2026-01-02', '?from'],
    ['from=2026-04-02&to=2026-04-01', '?to'],
    ['from=2026-04-01T00:00:00+02:00', '?from'],
    ['granularity=week', '?granularity'],
    ['group_by=name', '?group_by'],
    ['limit=1001', '?limit'],
    ['limit=0', '?limit'],
    ['tenant=x', '?tenant'],
  ];
  for (const [query, pointer] of rows) {
    t.match(
      await parent.call('GET', `/usage?${query}`),
      { status: 400, body: { code: 'invalid_request', errors: [{ pointer }] } },
      query,
    );
  }
  t.equal((await parent.call('GET', '/usage?limit=1000')).status, 200);
  t.equal(
    (await parent.call('GET', '/usage?from=2024-01-01&to=2025-01-02')).body['detail'],
    'The query parameter `from` must be at most 366 days before `to`, which is now unless given.',
    'a sentence of the place and the fault',
  );
});
