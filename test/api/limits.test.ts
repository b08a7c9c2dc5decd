// class: app
/** Limits of requests, as parents and operators set and see them. */
import t from 'tap';
import { startApis } from '../support/apis.ts';
import type { HttpResponse } from '../support/http-client.ts';

const apis = await startApis(t);
const none = {
  ...{ requests_per_second: null, burst: null, requests_per_minute: null },
  ...{ requests_per_day: null, requests_per_month: null, units_per_month: null },
};
const five = { ...none, requests_per_second: 5 };
const receipt = { 'x-service-enforced': /^replicas=/ };

t.test('a sub-account has those its parent gives it: at create, by PATCH, by PUT', async (t) => {
  const { call } = await apis.parent();
  t.match(await call('POST', '', { body: { name: 'N' } }), { status: 201, body: { limits: none } });
  const made = await call('POST', '', { body: { name: 'N', limits: { requests_per_second: 5 } } });
  t.match(made, { status: 201, body: { limits: five } });
  const path = `/${String(made.body['id'])}`;
  t.same((await call('GET', path)).body['limits'], five, 'always shown whole');
  const more = { burst: 7, requests_per_minute: 90, requests_per_day: 95, requests_per_month: 100 };
  t.match(await call('PATCH', path, { body: { limits: more } }), {
    status: 200,
    headers: receipt,
    body: { limits: { ...five, ...more } },
  });
  t.match(await call('PATCH', path, { body: { name: 'M' } }), {
    headers: { 'x-service-enforced': undefined },
    body: { name: 'M', limits: { ...five, ...more } },
  });
  const gone = { burst: null, requests_per_minute: null, requests_per_day: null, requests_per_month: null };
  t.match((await call('PATCH', path, { body: { limits: gone } })).body, { limits: five });
  t.match(await call('PATCH', path, { body: { limits: {} } }), { status: 200, body: { limits: five } });
  const put = (limits: object): Promise<HttpResponse> =>
    call('PUT', '/by-external-id/x', { body: { name: 'Put', limits } });
  t.match(await put({ requests_per_second: 5 }), { status: 201, body: { limits: five } });
  t.match(await put({ requests_per_month: 9 }), { status: 200, headers: receipt });
  t.match((await call('GET', '')).body['data'], [{ limits: { ...five, requests_per_month: 9 } }, {}, {}]);
});

t.test('a key has those it is minted with or given later, and none for months', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  const keys = `/${id}/api-keys`;
  const minted = await parent.call('POST', keys, { body: { name: 'K', limits: { requests_per_second: 5 } } });
  t.match(minted, { status: 201, body: { limits: five } });
  const path = `${keys}/${String(minted.body['id'])}`;
  t.match(await parent.call('PATCH', path, { body: { limits: { burst: 9 } } }), {
    status: 200,
    headers: receipt,
    body: { limits: { ...five, burst: 9 } },
  });
  t.match(await parent.call('PATCH', path, { body: { limits: { requests_per_month: 9 } } }), {
    status: 400,
    body: { errors: [{ pointer: '/limits/requests_per_month', detail: 'must be null.' }] },
  });
  const limits = (await parent.call('GET', path)).body['limits'];
  t.match(await parent.call('PATCH', path, { body: { limits } }), { status: 200, body: { limits } });
  const three = { limits: { requests_per_second: 3 } };
  t.match(await apis.operator('PATCH', `/api-keys/${parent.keyId}`, { body: three }), {
    status: 200,
    body: three,
  });
  t.match((await parent.call('GET', '/caller')).body, { account: { limits: none }, api_key: three });
  const made = await apis.operator('POST', `/accounts/${parent.id}/api-keys`, {
    body: { name: 'K', ...three },
  });
  t.match(made, { status: 201, body: three });
});

t.test('a parent has those that the operator gives it, and sees them', async (t) => {
  const parent = await apis.parent();
  const path = `/accounts/${parent.id}`;
  t.match(await apis.operator('GET', path), { body: { limits: none } });
  t.match(await apis.operator('PATCH', path, { body: { limits: { requests_per_month: 1e12 } } }), {
    status: 200,
    headers: receipt,
    body: { limits: { ...none, requests_per_month: 1_000_000_000_000 } },
  });
  const limits = { requests_per_month: 1e12 };
  t.match((await parent.call('GET', '/caller')).body, { account: { limits } });
  const { body } = await parent.call('GET', '/events?type=account.updated');
  t.match(body['data'], [{ data: { object: { limits }, previous: { limits: none } } }]);
});

t.test('what is no limit is rejected by name, and nothing is changed', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create({ name: 'N', limits: { requests_per_second: 5 } });
  const wrong: readonly (readonly [unknown, string])[] = [
    [null, '/limits'],
    [5, '/limits'],
    [{ requests_per_second: 0 }, '/limits/requests_per_second'],
    [{ requests_per_second: -1 }, '/limits/requests_per_second'],
    [{ requests_per_second: 1.5 }, '/limits/requests_per_second'],
    [{ requests_per_second: '5' }, '/limits/requests_per_second'],
    [{ requests_per_second: 1_000_001 }, '/limits/requests_per_second'],
    [{ burst: 10_000_001 }, '/limits/burst'],
    [{ requests_per_month: 1_000_000_000_001 }, '/limits/requests_per_month'],
    [{ requests_per_minute: 60_000_001 }, '/limits/requests_per_minute'],
    [{ requests_per_day: 0 }, '/limits/requests_per_day'],
    [{ requests_per_hour: 5 }, '/limits/requests_per_hour'],
    [{ requests_per_second: null, burst: 5 }, '/limits/burst'],
  ];
  for (const [limits, pointer] of wrong)
    for (const response of [
      await parent.call('POST', '', { body: { name: 'N', limits } }),
      await parent.call('PATCH', `/${id}`, { body: { limits } }),
      await parent.call('PUT', '/by-external-id/wrong', { body: { name: 'N', limits } }),
    ])
      t.match(
        response,
        { status: 400, body: { code: 'invalid_request', errors: [{ pointer }] } },
        JSON.stringify(limits),
      );
  t.match(await parent.call('POST', '', { body: { name: 'N', limits: { burst: 5 } } }), {
    status: 400,
    body: { errors: [{ pointer: '/limits/burst', detail: /needs a requests_per_second/ }] },
  });
  t.same((await parent.call('GET', `/${id}`)).body['limits'], five);
  t.equal(((await parent.call('GET', '')).body['data'] as unknown[]).length, 1);
});

t.test('calls that set no limits say so, and have no effect', async (t) => {
  const parent = await apis.parent();
  const sub = await parent.create();
  const minted = await parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'K' } });
  const limits = { requests_per_second: 1 };
  const key = `/${sub.id}/api-keys/${String(minted.body['id'])}`;
  for (const [response, pointer] of [
    [await apis.operator('POST', '/accounts', { body: { name: 'N', limits } }), '/limits'],
    [await parent.call('POST', `${key}/rotate`, { body: { expires_in: 0, limits } }), '/limits'],
    [
      await apis.operator('POST', `/accounts/${parent.id}/api-keys/import`, {
        body: { keys: [{ name: 'N', api_key: 'a-key-that-was-made-elsewhere', limits }] },
      }),
      '/keys/0/limits',
    ],
  ] as const)
    t.match(response, {
      status: 400,
      body: { errors: [{ pointer, detail: /^cannot be set by this call/ }] },
    });
});
