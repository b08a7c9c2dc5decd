// class: app
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import type { HttpResponse } from '../../support/http-client.ts';

const apis = await startApis(t);

t.test('PUT creates with 201, changes with 200, and says nothing new where nothing changes', async (t) => {
  const { call } = await apis.parent();
  const put = (body: object): Promise<HttpResponse> => call('PUT', '/by-external-id/ada', { body });
  const created = await put({ name: 'Ada', metadata: { tier: 'gold', region: 'eu' } });
  t.match(created, {
    status: 201,
    body: { name: 'Ada', external_id: 'ada', status: 'active', metadata: { tier: 'gold', region: 'eu' } },
  });
  t.ok(created.headers['x-service-enforced'] !== undefined, 'the first one waits, as by POST');
  const id = String(created.body['id']);
  t.same((await call('GET', `/${id}`)).body, created.body);
  const changed = await put({ name: 'Ada Ltd', metadata: { tier: null } });
  t.match(changed, { status: 200, body: { id, name: 'Ada Ltd', metadata: { region: 'eu' } } });
  t.same((await put({ name: 'Ada Ltd' })).body, changed.body);
  t.match(await put({ name: 'Ada Ltd' }), { status: 200 });

  await call('POST', `/${id}/deactivate`);
  t.match(await put({ name: 'Ada Inc' }), { status: 200, body: { name: 'Ada Inc', status: 'deactivated' } });
});

t.test('whatever an external_id may be can stand in the path, percent-encoded', async (t) => {
  const { call } = await apis.parent();
  const ids = [
    'a/b',
    '/',
    'a%2Fb',
    '100%',
    '%',
    'a?b#c',
    'a;b=c',
    '~!@$&*()_+-={}[]|:"<>\'`^.',
    'a.b',
    'by-external-id',
    'usage',
    'deactivate',
    'x'.repeat(255),
  ];
  for (const externalId of ids) {
    const path = `/by-external-id/${encodeURIComponent(externalId)}`;
    const put = await call('PUT', path, { body: { name: 'N' } });
    t.match(put, { status: 201, body: { external_id: externalId } }, externalId);
    t.match(await call('PUT', path, { body: { name: 'N' } }), { status: 200, body: put.body }, externalId);
  }
  const every = Array.from({ length: 10 }, (_, i) => String.fromCharCode(0x21 + i)).join('');
  const encoded = [...every].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
  t.match(await call('PUT', `/by-external-id/${encoded}`, { body: { name: 'N' } }), {
    status: 201,
    body: { external_id: every },
  });
});

t.test('what is no external_id is 400, and what could be read as another path, too', async (t) => {
  const { call } = await apis.parent();
  const status = async (path: string): Promise<unknown[]> => {
    const response = await call('PUT', path, { body: { name: 'N' } });
    return [response.status, response.body['code']];
  };
  for (const bad of ['a,b', 'a b', 'ä', 'x'.repeat(256)])
    t.same(await status(`/by-external-id/${encodeURIComponent(bad)}`), [400, 'invalid_request'], bad);
  for (const dots of ['..', '%2e%2e', '.', 'a%2f..%2fb', '%252e%252e'])
    t.same(await status(`/by-external-id/${dots}`), [400, 'invalid_target'], dots);
  t.same(await status('/by-external-id/a/b'), [404, 'not_found']);
  t.same(await status('/by-external-id/'), [404, 'not_found']);
  t.same(await status('/by-external-id'), [405, 'method_not_allowed']);
  t.match(await call('GET', '/by-external-id'), { status: 404 }, 'it is no sub-account');
});
