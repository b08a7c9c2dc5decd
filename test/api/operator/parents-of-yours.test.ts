// class: app
/** Parents under the operator's own ids and names, and what an operator does with their sub-accounts. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import type { HttpResponse } from '../../support/http-client.ts';

const apis = await startApis(t);

t.test('an id is one account’s, parent or not, and an external_id one parent’s', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create({ name: 'Child', external_id: 'shared' });
  const first = await apis.operator('POST', '/accounts', { body: { name: 'A', external_id: 'shared' } });
  t.equal(first.status, 201, 'a sub-account may have the same external_id');
  const firstId = String(first.body['id']);
  for (const taken of [parent.id, child.id.toUpperCase()]) {
    for (const path of ['/accounts', `/accounts/${parent.id}/sub-accounts`]) {
      const response = await apis.operator('POST', path, { body: { name: 'B', id: taken } });
      t.match(response, { status: 409, body: { code: 'id_taken' } }, `${path} ${taken}`);
    }
  }
  const fresh = randomUUID();
  const body = { name: 'B', id: fresh, external_id: 'shared' };
  t.match(await apis.operator('POST', '/accounts', { body }), {
    status: 409,
    body: { code: 'external_id_taken', account_id: firstId },
  });
  t.equal((await apis.operator('GET', `/accounts/${fresh}`)).status, 404, 'nothing was made');
  const patched = await apis.operator('PATCH', `/accounts/${parent.id}`, { body: { external_id: 'shared' } });
  t.match(patched, { status: 409, body: { code: 'external_id_taken', account_id: firstId } });
});

t.test(
  'a parent is changed: what is named, and waits for every replica where upstreams see it',
  async (t) => {
    const { id } = await apis.parent();
    const patch = (body: object): Promise<HttpResponse> =>
      apis.operator('PATCH', `/accounts/${id}`, { body });
    t.match(await patch({ name: 'Named', metadata: { a: '1', b: '2' } }), {
      status: 200,
      body: { name: 'Named', metadata: { a: '1', b: '2' }, external_id: null },
    });
    const named = await patch({ external_id: 'x-1' });
    t.match(named, { status: 200, body: { external_id: 'x-1', name: 'Named' } });
    t.match(named.headers['x-service-enforced'], /^replicas=/);
    t.match((await patch({ external_id: 'x-1' })).headers['x-service-enforced'], /./, 'once more: as well');
    const merged = await patch({ metadata: { a: null, c: '3' } });
    t.same(merged.body['metadata'], { b: '2', c: '3' });
    t.notOk('x-service-enforced' in merged.headers, 'no upstream sees metadata');
    t.match((await patch({ external_id: null })).headers['x-service-enforced'], /./);
    const pairs = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`k${i}`, 'v']));
    t.match(await patch({ metadata: pairs }), { status: 400, body: { errors: [{ pointer: '/metadata' }] } });
    for (const [body, pointer] of [
      [{}, ''],
      [{ status: 'suspended' }, '/status'],
      [{ limits: null }, '/limits'],
      [{ max_api_keys: -1 }, '/max_api_keys'],
      [{ id: randomUUID() }, '/id'],
      [{ name: null }, '/name'],
    ] as const) {
      t.match(await patch(body), { status: 400, body: { errors: [{ pointer }] } }, JSON.stringify(body));
    }
  },
);

t.test('an operator lists, creates, deactivates and reactivates sub-accounts of any parent', async (t) => {
  const parent = await apis.parent();
  const other = await apis.parent();
  const path = `/accounts/${parent.id}/sub-accounts`;
  const id = randomUUID();
  const made = await apis.operator('POST', path, {
    body: { name: 'Child', id, external_id: 'c', metadata: { k: 'v' } },
  });
  t.match(made, { status: 201, body: { id, name: 'Child', external_id: 'c', status: 'active' } });
  t.same((await parent.call('GET', `/${id}`)).body, made.body, 'the parent sees it');
  t.match(await apis.operator('POST', path, { body: { name: 'D', external_id: 'c' } }), {
    status: 409,
    body: { code: 'external_id_taken', sub_account_id: id },
  });
  const generated = await apis.operator('POST', path, { body: { name: 'E' } });
  t.match(generated, { status: 201, body: { external_id: null } });

  for (const [action, status] of [
    ['deactivate', 'deactivated'],
    ['deactivate', 'deactivated'],
    ['reactivate', 'active'],
  ] as const) {
    const acted = await apis.operator('POST', `${path}/${id}/${action}`);
    t.match(acted, { status: 200, body: { id, status }, headers: { 'x-service-enforced': /./ } });
  }
  const idsOf = ({ body }: HttpResponse): string[] => (body['data'] as { id: string }[]).map((row) => row.id);
  t.same(idsOf(await apis.operator('GET', path)), [generated.body['id'], id], 'newest first');
  t.same(idsOf(await apis.operator('GET', `${path}?external_id=c`)), [id]);
  t.same(idsOf(await apis.operator('GET', `${path}?q=chi&metadata[k]=v`)), [id]);
  t.same(idsOf(await apis.operator('GET', `${path}?status=deactivated`)), []);
  t.same(idsOf(await apis.operator('GET', `/accounts/${other.id}/sub-accounts`)), []);
  const changed = { name: 'M', limits: { requests_per_second: 5 } };
  t.match(await apis.operator('PATCH', `${path}/${id}`, { body: changed }), {
    status: 200,
    headers: { 'x-service-enforced': /./ },
    body: changed,
  });
  t.match(await apis.operator('GET', `${path}/${id}`), { status: 200, body: { id, ...changed } });
  for (const [method, rest, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'X' }],
    ['POST', '/deactivate'],
  ] as const) {
    const foreign = `/accounts/${other.id}/sub-accounts/${id}${rest}`;
    t.match(await apis.operator(method, foreign, { body }), { status: 404, body: { code: 'not_found' } });
  }
});

t.test('parents are found by external_id, status and the start of their name', async (t) => {
  const apis = await startApis(t);
  const make = async (body: object): Promise<string> =>
    String((await apis.operator('POST', '/accounts', { body })).body['id']);
  const acme = await make({ name: 'Acme Freight', external_id: 'cus_1' });
  const acorn = await make({ name: 'acorn', external_id: 'cus_2' });
  const percent = await make({ name: '100% Freight' });
  await apis.operator('POST', `/accounts/${acorn}/suspend`);
  const found = async (query: string): Promise<string[]> =>
    ((await apis.operator('GET', `/accounts?${query}`)).body['data'] as { id: string }[]).map(({ id }) => id);
  t.same(await found('external_id=cus_2'), [acorn]);
  t.same(await found('external_id=cus_2&status=active'), []);
  t.same(await found('external_id=CUS_2'), []);
  t.same(await found('status=suspended'), [acorn]);
  t.same(await found('q=AC'), [acorn, acme]);
  t.same(await found('q=acme%20f'), [acme]);
  t.same(await found('q=freight'), [], 'the start, not the middle');
  t.same(await found('q=%25'), [], 'no character stands for others');
  t.same(await found('q=1__%25'), []);
  t.same(await found('q=100%25'), [percent]);
  t.same(await found('q=ac&status=active&limit=1'), [acme]);

  const { next_cursor: cursor } = (await apis.operator('GET', '/accounts?q=ac&limit=1')).body;
  t.same(await found(`q=ac&limit=1&cursor=${String(cursor)}`), [acme]);
  const elsewhere = await apis.operator('GET', `/accounts?q=a&cursor=${String(cursor)}`);
  t.match(elsewhere, { status: 400, body: { errors: [{ pointer: '?cursor' }] } });
});
