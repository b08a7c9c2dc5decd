import { randomUUID } from 'node:crypto';
import t from 'tap';
import { operatorToken, startApis } from '../../support/apis.ts';
import { cli } from '../../support/process.ts';
import { freshStore, rawSql } from '../../support/store.ts';
import { addUsage, april, hour, usageRow } from '../../support/usage-rows.ts';

const march = { from: '2026-03-30', to: '2026-05-01' };

t.test('a day that was changed by hand is named, and mended where that is asked for', async (t) => {
  const { store, url } = await freshStore(t);
  const apis = await startApis(t, { store });
  const sql = rawSql(t, url);
  const [parent, other] = [await apis.parent(), await apis.parent()];
  const child = await parent.create();
  await addUsage(
    apis,
    [parent.id, child.id, other.id].flatMap((id) =>
      [0, 5, 24, 49].map((i) => usageRow(id, april + i * hour, { requests: i + 1, bytesOut: 10 })),
    ),
  );
  const reconcile = async (more: object = {}) => {
    const { status, body, text } = await apis.operator('POST', '/usage/reconcile', {
      body: { ...march, ...more },
    });
    t.equal(status, 200, text);
    return body as { accounts: number; data: Record<string, unknown>[]; next_cursor: string | null };
  };
  t.match(await reconcile(), {
    from: '2026-03-30T00:00:00.000Z',
    to: '2026-05-01T00:00:00.000Z',
    accounts: 3,
    mended: false,
    data: [],
    has_more: false,
    next_cursor: null,
  });

  await sql`update usage_daily set requests = requests + 1 where account_id = ${child.id} and day = '2026-04-01'`;
  await sql`delete from usage_daily where account_id = ${parent.id} and day = '2026-04-02'`;
  await sql`update usage_daily set day = '2026-04-20' where account_id = ${other.id} and day = '2026-04-03'`;
  const key = '0190a0a0-0000-7000-8000-000000000001';
  const counts = {
    requests: 25,
    reads: 0,
    writes: 0,
    client_errors: 0,
    server_errors: 0,
    bytes_in: 0,
    bytes_out: 10,
  };
  const named = [
    {
      ...{ account_id: parent.id, sub_account_id: child.id, api_key_id: key, day: '2026-04-01' },
      by_hours: { ...counts, requests: 7, bytes_out: 20 },
      by_days: { ...counts, requests: 8, bytes_out: 20 },
    },
    {
      ...{ account_id: other.id, sub_account_id: other.id, api_key_id: key, day: '2026-04-03' },
      by_hours: { ...counts, requests: 50 },
      by_days: null,
    },
    {
      ...{ account_id: other.id, sub_account_id: other.id, api_key_id: key, day: '2026-04-20' },
      by_hours: null,
      by_days: { ...counts, requests: 50 },
    },
    {
      ...{ account_id: parent.id, sub_account_id: parent.id, api_key_id: key, day: '2026-04-02' },
      by_hours: counts,
      by_days: null,
    },
  ];
  t.same((await reconcile()).data, named);
  t.same((await reconcile({ account_id: other.id })).data, named.slice(1, 3));
  t.same((await reconcile({ to: '2026-04-02' })).data, named.slice(0, 1));

  const { port } = new URL(apis.internalOrigin);
  const env = { INTERNAL_PORT: port, ADMIN_TOKEN: operatorToken };
  const period = ['--from', march.from, '--to', march.to];
  const told = await cli(env, 'usage', 'reconcile', ...period);
  t.equal(told.code, 1, 'for what runs it every night');
  t.match(told.stdout, new RegExp(`${child.id} +${key} +2026-04-01 +7 +8 +requests`));
  t.match(told.stdout, /Compared: 3 accounts/);
  t.match(told.stderr, /4 days differ from the sum of their hours/);

  const mended = await cli(env, 'usage', 'reconcile', ...period, '--mend', '--json');
  t.equal(mended.code, 0);
  t.match(JSON.parse(mended.stdout), { accounts: 3, mended: true, differences: named });
  t.same((await reconcile()).data, []);
  t.match((await cli(env, 'usage', 'reconcile', ...period)).stdout, /Every day is the sum of its hours/);
  t.match((await parent.call('GET', '/usage?from=2026-04-01&to=2026-04-04')).body, {
    data: [{ requests: 82 }, { requests: 82 }],
  });
});

t.test('a long comparison goes on where it was, and names each difference once', async (t) => {
  const { store, url } = await freshStore(t);
  const apis = await startApis(t, { store });
  const parent = await apis.parent();
  for (let i = 0; i < 29; i++) await parent.create();
  const sql = rawSql(t, url);
  await sql`insert into usage_daily
    select coalesce(parent_id, id), id, '2026-04-01', ${randomUUID()}, 1, 1, 0, 0, 0, 0, 0 from account`;
  const seen: unknown[] = [];
  let calls = 0;
  for (let cursor: unknown; cursor !== null; calls++) {
    // As long a period as there may be, so that few accounts come at once.
    const body = { from: '2026-01-01', to: '2027-01-01', ...(cursor !== undefined && { cursor }) };
    const response = await apis.operator('POST', '/usage/reconcile', { body });
    seen.push(...(response.body['data'] as { sub_account_id: string }[]).map((row) => row.sub_account_id));
    cursor = response.body['next_cursor'];
  }
  t.ok(calls > 1);
  t.equal(seen.length, 30);
  t.equal(new Set(seen).size, 30);
});

t.test('what cannot be compared is said', async (t) => {
  const { store, url } = await freshStore(t);
  const apis = await startApis(t, { store });
  const child = await (await apis.parent()).create();
  const call = (body: object) => apis.operator('POST', '/usage/reconcile', { body });
  for (const [body, pointer] of [
    [{ ...march, from: '2026-04-01T05:00:00Z' }, '/from'],
    [{ ...march, to: 'today' }, '/to'],
    [{ from: march.to, to: march.from }, '/to'],
    [{ ...march, from: '2020-01-01' }, '/from'],
    [{ ...march, cursor: 'x' }, '/cursor'],
  ] as const)
    t.match(await call(body), { status: 400, body: { errors: [{ pointer }] } });
  for (const account_id of [child.id, randomUUID(), 'x'])
    t.equal((await call({ ...march, account_id })).status, 404);
  const sql = rawSql(t, url);
  await sql`update usage_kept set hours_from = '2026-04-10'`;
  t.match(await call(march), { status: 400, body: { errors: [{ pointer: '/from' }] } });
  await sql`update usage_kept set hours_from = '-infinity', account_id = ${randomUUID()}`;
  t.match(await call(march), { status: 503, body: { code: 'unavailable' } });
});

t.test('the report is written as CSV from the command line, whole', async (t) => {
  const apis = await startApis(t);
  const parent = await apis.parent();
  const child = await parent.create({ name: 'Ada, Ltd.' });
  await addUsage(apis, [
    usageRow(parent.id, april, { requests: 5 }),
    usageRow(child.id, april, { requests: 7 }),
  ]);
  const env = { INTERNAL_PORT: new URL(apis.internalOrigin).port, ADMIN_TOKEN: operatorToken };
  const usage = (...args: readonly string[]) =>
    cli(env, 'usage', parent.id, '--from', '2026-04-01', '--to', '2026-05-01', ...args);
  const csv = await usage('--csv', '--group-by', 'sub_account', '--granularity', 'day');
  t.equal(csv.code, 0, csv.stderr);
  const [header, first, second, end] = csv.stdout.split('\r\n');
  t.match(header, /^account_id,sub_account_id,external_id,name,period_start,requests,/);
  t.match(first, `${parent.id},${child.id},,"Ada, Ltd.",2026-04-01T00:00:00.000Z,7,`);
  t.match(second, `${parent.id},${parent.id},,Parent,2026-04-01T00:00:00.000Z,5,`);
  t.equal(end, '');
  const one = await usage('--sub-account', child.id, '--group-by', 'sub_account', '--json');
  t.match(JSON.parse(one.stdout), { data: [{ sub_account_id: child.id, requests: 7 }], has_more: false });
  const wrong = await cli(env, 'usage', randomUUID(), '--csv');
  t.equal(wrong.code, 1);
  t.equal(wrong.stdout, '');
});
