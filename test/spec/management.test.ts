// class: app
import t from 'tap';
import type { Parent } from '../support/apis.ts';
import { eventually } from '../support/eventually.ts';
import { startReplicas } from '../support/replicas.ts';

// The ten operations (spec section 4), through whole gateways: what is done on one replica is read on the other.

const sinceYesterday = `from=${new Date(Date.now() - 86_400_000).toISOString()}`;

/** Requests of one account, as far as they are in reports. A replica reports them in the order in which they came. */
async function requestsOf(parent: Parent, account: string): Promise<unknown> {
  const { body } = await parent.call('GET', `/usage?sub_account_id=${account}&${sinceYesterday}`);
  return (body['data'] as { requests: number }[])[0]?.requests;
}

t.test('managing sub-accounts', async (t) => {
  const { call, upstream, parent: newParent } = await startReplicas(t, '', 'ApiKey');
  const parent = await newParent();
  const read = (path: string) => call('GET', `/v1/sub-accounts${path}`, { key: parent.key });

  t.test('create a sub-account: 201 with its record, name and external_id as sent', async (t) => {
    const sent = { name: 'Ada', external_id: 'ada' };
    const id = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;
    t.match(await parent.call('POST', '', { body: sent }), {
      status: 201,
      body: { ...sent, id, status: 'active', metadata: {}, deactivated_at: null },
    });
  });

  t.test('list sub-accounts: newest first', async (t) => {
    await parent.call('POST', '', { body: { name: 'Bob' } });
    t.match(await read(''), {
      status: 200,
      body: { data: [{ name: 'Bob' }, { name: 'Ada' }], has_more: false, next_cursor: null },
    });
  });

  t.test('get and update a sub-account', async (t) => {
    const sub = await parent.create({ name: 'Cyd' });
    const body = { name: 'Cyd & Co', external_id: 'cyd', metadata: { region: 'eu' } };
    const changed = await parent.call('PATCH', `/${sub.id}`, { body });
    t.match(changed, { status: 200, body: { id: sub.id, ...body } });
    t.same((await read(`/${sub.id}`)).body, changed.body);
  });

  t.test('deactivate and reactivate: 200 with the record, idempotent, each enforced', async (t) => {
    const sub = await parent.create();
    for (const [action, status] of [
      ['deactivate', 'deactivated'],
      ['deactivate', 'deactivated'],
      ['reactivate', 'active'],
      ['reactivate', 'active'],
    ] as const) {
      t.match(await sub.act(action), {
        status: 200,
        headers: { 'x-service-enforced': /^replicas=2; ms=\d+/ },
        body: { status },
      });
      t.equal((await read(`/${sub.id}`)).body['status'], status);
    }
  });

  t.test('mint, list and revoke keys: the secrets are in the first response alone', async (t) => {
    const sub = await parent.create();
    const minted = await parent.call('POST', `/${sub.id}/api-keys`, {
      body: { name: 'k', scopes: ['tracking:read'] },
    });
    t.equal(minted.status, 201);
    t.equal(minted.headers['cache-control'], 'no-store');
    const { api_key: key, client_secret: secret, id, ...shown } = minted.body as Record<string, unknown>;
    t.match(key, /^tgw_/);
    t.match(secret, /^tgs_/);
    const listed = await read(`/${sub.id}/api-keys`);
    t.same(listed.body['data'], [{ id, ...shown }]);
    const revoked = await parent.call('POST', `/${sub.id}/api-keys/${String(id)}/revoke`);
    t.equal(revoked.status, 200);
    t.match(revoked.body, { id, status: 'revoked' });
    for (const { text } of [listed, revoked, await read(`/${sub.id}/api-keys`)]) {
      t.notOk(text.includes(String(key)) || text.includes(String(secret)));
    }
  });

  t.test('usage report: requests show up for whom they operated on', async (t) => {
    const customer = await newParent();
    const sub = await customer.create({ name: 'Used', external_id: 'used' });
    const headers = { 'X-Service-Acting-Tenant': 'ext:used' };
    await call('POST', '/v1/shipments', { key: customer.key, headers, body: { transport_mode: 'ocean' } });
    await call('GET', '/v1/shipments', { key: customer.key, headers });
    await call('GET', '/v1/shipments', { key: customer.key });
    await eventually(async () => (await requestsOf(customer, customer.id)) === 1);
    const report = await customer.call('GET', `/usage?granularity=total&${sinceYesterday}`);
    const rows = report.body['data'] as Record<string, unknown>[];
    t.match(
      rows.find((row) => row['sub_account_id'] === sub.id),
      { name: 'Used', external_id: 'used', requests: 2, reads: 1, writes: 1 },
    );
    t.match(
      rows.find((row) => row['sub_account_id'] === customer.id),
      { requests: 1, reads: 1 },
    );
  });

  t.test(
    "onboarding: what a parent's keys write without the acting header is counted for each",
    async (t) => {
      const customer = await newParent();
      const sub = await customer.create({ name: 'Off', external_id: 'off' });
      await sub.act('deactivate');
      const refused = ['ext:off', 'nonsense'].map((acting): [string, string] => ['POST', acting]);
      const calls: [string, string?][] = [['POST'], ['PUT'], ['PATCH'], ['GET'], ['HEAD'], ['POST', 'self']];
      for (const [method, acting] of [...calls, ...refused, ['DELETE'] as const]) {
        const headers = acting === undefined ? {} : { 'X-Service-Acting-Tenant': acting };
        await call(method, '/x', { key: customer.key, headers });
      }
      await sub.act('reactivate');
      await call('POST', '/x', { key: customer.key });
      await call('POST', '/x', { key: await sub.mint() });
      await eventually(async () => (await requestsOf(customer, sub.id)) === 1);
      t.match((await customer.call('GET', '/onboarding')).body, {
        data: [{ api_key_id: customer.keyId, name: 'key', requests: 4 }],
      });
    },
  );

  t.test('rule 2: paths take the tenant UUID, in any case, and nothing else', async (t) => {
    const sub = await parent.create({ name: 'Eve', external_id: 'eve' });
    t.equal((await read(`/${sub.id.toUpperCase()}`)).body['id'], sub.id);
    for (const id of ['eve', 'ext:eve', 'self']) t.equal((await read(`/${id}`)).status, 404, id);
  });

  t.test('other parents see none of it: 404, as for what does not exist', async (t) => {
    const stranger = await newParent();
    const sub = await parent.create();
    const paths = [`/${sub.id}`, `/${sub.id}/api-keys`];
    for (const path of paths)
      t.match(await call('GET', `/v1/sub-accounts${path}`, { key: stranger.key }), {
        status: 404,
        body: { code: 'not_found' },
      });
    t.equal((await stranger.call('POST', `/${sub.id}/deactivate`)).status, 404);
    t.same((await stranger.call('GET', '')).body['data'], []);
  });

  t.test('concurrent creates with one external_id, on both replicas: exactly one 201', async (t) => {
    const body = { name: 'Same', external_id: 'same' };
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0
          ? parent.call('POST', '', { body })
          : call('POST', '/v1/sub-accounts', { key: parent.key, body }),
      ),
    );
    const created = responses.filter(({ status }) => status === 201);
    t.equal(created.length, 1);
    const taken = { code: 'external_id_taken', sub_account_id: created[0]?.body['id'] };
    for (const response of responses.filter(({ status }) => status !== 201))
      t.match(response, { status: 409, body: taken });
  });

  t.test('nothing under /v1/sub-accounts ever reaches the upstream', async (t) => {
    const before = upstream.received.length;
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const path of ['/', '/none', '/a/b/c/d', `/${'x'.repeat(500)}`, '/usage/', '/%61']) {
        const { status } = await call(method, `/v1/sub-accounts${path}`, { key: parent.key });
        t.ok([400, 404, 405].includes(status), `${method} ${path.slice(0, 20)}: ${status}`);
      }
    }
    t.equal(upstream.received.length, before);
  });
});
