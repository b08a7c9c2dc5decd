// class: app
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { documentedOperations } from '../../support/openapi.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t, { portal: {} });

const operations = documentedOperations().flatMap(({ id, api, method, path }) => {
  if (api !== 'parents') return [];
  const filled = path.replace('/v1/sub-accounts', '').replaceAll(/\{\w+\}/g, crypto.randomUUID());
  return [{ id, method, path: filled, scope: `sub_accounts:${method === 'GET' ? 'read' : 'write'}` }];
});

t.test('a path with more behind it is none, and nothing of it reaches the proxy', async (t) => {
  const parent = await apis.parent();
  const wrong: string[] = [];
  for (const path of [...operations.map((one) => `${one.path}/`), '/usage/x', '/events/x/y'])
    for (const method of ['GET', 'POST', 'DELETE', 'MKCOL']) {
      const { status, headers } = await parent.call(method, path);
      if (status !== 404 || headers.allow !== undefined) wrong.push(`${method} ${path}: ${status}`);
    }
  t.same(wrong, []);
});

t.test('HEAD gets the response of GET, without the body', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  for (const path of ['', '/usage', `/${id}`, `/${id}/api-keys`]) {
    const [get, head] = [await parent.call('GET', path), await parent.call('HEAD', path)];
    t.match(head, { status: 200, text: '' });
    t.equal(head.headers['content-length'], get.headers['content-length']);
  }
  t.equal((await apis.call('HEAD', '/v1/sub-accounts')).status, 401);
});

t.test('reads ask for sub_accounts:read and writes for sub_accounts:write, exactly', async (t) => {
  t.ok(operations.length > 20);
  const nobody = await apis.parent([]);
  for (const { method, path, scope } of operations) {
    const body = { code: 'insufficient_scope', scope, detail: new RegExp(scope) };
    t.match(await nobody.call(method, path), { status: 403, body }, `${method} ${path}`);
  }
  t.equal((await nobody.call('HEAD', '')).status, 403);
  const of = (wanted: string) => operations.flatMap(({ id, scope }) => (scope === wanted ? [id] : []));
  const [reads, writes] = [of('sub_accounts:read'), of('sub_accounts:write')];
  for (const [scope, refused] of [
    ['sub_accounts:read', writes],
    ['sub_accounts:write', reads],
    ...['sub_accounts:*', 'sub_accounts', 'SUB_ACCOUNTS:READ', 'sub_accounts:read:of:orders', '*'].map(
      (other) => [other, operations.map(({ id }) => id)] as const,
    ),
  ] as const) {
    const { call } = await apis.parent([scope]);
    const found: string[] = [];
    for (const { id, method, path } of operations)
      if ((await call(method, path)).status === 403) found.push(id);
    t.same(found.sort(), [...refused].sort(), scope);
  }
});
