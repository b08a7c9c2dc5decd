// class: app
/** Plans by the operator API. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import type { HttpResponse } from '../../support/http-client.ts';

const apis = await startApis(t, { limits: { subAccountsPerParent: 1, keysPerAccount: 2 } });
const none = {
  ...{ requests_per_second: null, burst: null, requests_per_minute: null },
  ...{ requests_per_day: null, requests_per_month: null, units_per_month: null },
};
const put = (name: string, body: object): Promise<HttpResponse> =>
  apis.operator('PUT', `/plans/${name}`, { body });
const patch = (id: string, body: object): Promise<HttpResponse> =>
  apis.operator('PATCH', `/accounts/${id}`, { body });

t.test('a plan is created, replaced as a whole, shown, listed and deleted', async (t) => {
  const limits = { requests_per_second: 5, burst: 9 };
  const made = await put('gold', { limits, max_sub_accounts: 0 });
  const shown = { name: 'gold', max_sub_accounts: 0, max_api_keys: null };
  t.match(made, { status: 201, body: { ...shown, limits: { ...none, ...limits } } });
  t.match(await put('gold', { max_api_keys: 1 }), {
    status: 200,
    headers: { 'x-service-enforced': /^replicas=/ },
    body: { max_sub_accounts: null, max_api_keys: 1, limits: none },
  });
  t.match(await apis.operator('GET', '/plans/gold'), { status: 200, body: { name: 'gold' } });
  await put('silver', {});
  const first = await apis.operator('GET', '/plans?limit=1');
  t.match(first, { status: 200, body: { data: [{ name: 'silver' }], has_more: true } });
  const cursor = String(first.body['next_cursor']);
  t.match(await apis.operator('GET', `/plans?limit=1&cursor=${cursor}`), {
    body: { data: [{ name: 'gold' }], has_more: false },
  });
  t.match(await apis.operator('GET', '/plans?cursor=abc'), { status: 400 });
  const deleted = await apis.operator('DELETE', '/plans/silver');
  t.match(deleted, { status: 204, text: '' });
  for (const method of ['GET', 'DELETE'])
    t.match(await apis.operator(method, '/plans/silver'), {
      status: 404,
      body: { code: 'not_found', detail: 'There is no such plan here.' },
    });
});

t.test('a made-up position in the list is rejected and never an error of ours', async (t) => {
  for (const name of ['made-1', 'made-2']) await put(name, {});
  const { body } = await apis.operator('GET', '/plans?limit=1');
  const read = (cursor: string) => JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[];
  const [version, list, position = ''] = read(String(body['next_cursor']));
  const follow = (made: string): Promise<HttpResponse> => {
    const cursor = Buffer.from(JSON.stringify([version, list, made])).toString('base64url');
    return apis.operator('GET', `/plans?cursor=${cursor}`);
  };
  t.equal((await follow(position)).status, 200, 'the control');
  const [time = ''] = position.split(' ');
  for (const made of [
    '',
    'made-1',
    `${time} `,
    `${time} Made`,
    `${time} made-1 x`,
    '+275760-09-13T00:00:00.000Z a',
    '+010000-01-01T00:00:00.000Z a',
    '2026-01-31T12:00:00Z a',
    '2026-01-31T12:00:00.000+01:00 a',
    '2026-02-30T12:00:00.000Z a',
    '2026-01 a',
    '1 a',
  ])
    t.equal((await follow(made)).status, 400, made);
});

t.test('what is not a plan is 400, with its pointer', async (t) => {
  for (const name of ['Gold', '-gold', 'gold.1', 'g'.repeat(64), '%20'])
    t.match(await put(name, {}), { status: 400, body: { code: 'invalid_request' } }, name);
  t.match(await put('g'.repeat(63), {}), { status: 201 });
  for (const [body, pointer] of [
    [{ limits: { requests_per_day: 'unlimited' } }, '/limits/requests_per_day'],
    [{ limits: { requests_per_day: 0 } }, '/limits/requests_per_day'],
    [{ limits: { burst: 5 } }, '/limits/burst'],
    [{ max_api_keys: -1 }, '/max_api_keys'],
    [{ price: 5 }, '/price'],
  ] as const)
    t.match(await put('wrong', body), { status: 400, body: { errors: [{ pointer }] } });
});

t.test(
  'an account has a plan, its own limits before those of the plan, and shows what is in force',
  async (t) => {
    await put('basic', { limits: { requests_per_second: 5, burst: 9, requests_per_day: 100 } });
    const made = await apis.operator('POST', '/accounts', { body: { name: 'N', plan: 'basic' } });
    t.match(made, { status: 201, body: { plan: 'basic' } });
    t.same(made.body['limits'], none);
    t.same(made.body['effective_limits'], {
      ...none,
      ...{ requests_per_second: 5, burst: 9, requests_per_day: 100 },
    });
    const id = String(made.body['id']);
    const changed = await patch(id, { limits: { requests_per_second: 7, requests_per_day: 'unlimited' } });
    t.same(changed.body['limits'], { ...none, requests_per_second: 7, requests_per_day: 'unlimited' });
    t.same(changed.body['effective_limits'], { ...none, requests_per_second: 7 });
    t.match(await patch(id, { max_sub_accounts: 'unlimited' }), { body: { max_sub_accounts: 'unlimited' } });
    t.match(await apis.operator('GET', '/accounts?plan=basic'), { body: { data: [{ id, plan: 'basic' }] } });
    t.match(await apis.operator('DELETE', '/plans/basic'), {
      status: 409,
      body: { code: 'plan_in_use', detail: /^1 account has this plan/ },
    });
    t.match(await patch(id, { plan: null }), { body: { plan: null, effective_limits: { burst: null } } });
    t.match(await apis.operator('GET', '/accounts?plan=basic'), { body: { data: [] } });
  },
);

t.test('a plan that is not there, and what is no limit, is 400 with its pointer', async (t) => {
  const { id } = await apis.parent();
  for (const [body, pointer] of [
    [{ plan: 'no-such-plan' }, '/plan'],
    [{ plan: 'No' }, '/plan'],
    [{ limits: { requests_per_day: 'none' } }, '/limits/requests_per_day'],
    [{ limits: { requests_per_day: 1.5 } }, '/limits/requests_per_day'],
    [{ limits: { burst: 'unlimited' } }, '/limits/burst'],
    [{ max_api_keys: 'all' }, '/max_api_keys'],
  ] as const)
    t.match(await patch(id, body), { status: 400, body: { errors: [{ pointer }] } }, JSON.stringify(body));
  t.match(await apis.operator('POST', '/accounts', { body: { name: 'N', plan: 'no-such-plan' } }), {
    status: 400,
    body: { errors: [{ pointer: '/plan' }] },
  });
});

t.test('a parent sees the limits in force, and no event of a plan', async (t) => {
  const parent = await apis.parent();
  await put('seen', { limits: { requests_per_day: 100 } });
  await patch(parent.id, { plan: 'seen' });
  t.match(await parent.call('GET', '/caller'), { body: { account: { limits: { requests_per_day: 100 } } } });
  await put('seen', { limits: { requests_per_day: 200 } });
  const { body } = await parent.call('GET', '/events');
  t.match(body, { data: [{ type: 'account.updated', data: { previous: { plan: null } } }] });
  t.match(await parent.call('GET', '/events?type=plan.updated'), { status: 400 });
  await patch(parent.id, { plan: null });
  await apis.operator('DELETE', '/plans/seen');
  const limits = (requests_per_day: number) => ({ limits: { requests_per_day } });
  for (const [type, data] of [
    ['plan.created', { object: { name: 'seen', ...limits(100) }, previous: null }],
    ['plan.updated', { object: { name: 'seen', ...limits(200) }, previous: limits(100) }],
    ['plan.deleted', { object: { name: 'seen' }, previous: null }],
  ] as const) {
    const { body } = await apis.operator('GET', `/events?type=${type}&limit=1`);
    const about = { account_id: null, sub_account_id: null, actor: { kind: 'operator' } };
    t.match(body['data'], [{ ...about, data }], type);
  }
});
