// class: app
import t from 'tap';
import { startApis } from '../../support/apis.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t);

t.test('every path has its methods and no others, and nothing of it reaches the proxy', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  const paths: [string, string][] = [
    ['', 'GET, HEAD, POST'],
    ['/usage', 'GET, HEAD'],
    [`/${id}`, 'DELETE, GET, HEAD, PATCH'],
    [`/${id}/deactivate`, 'POST'],
    [`/${id}/reactivate`, 'POST'],
    [`/${id}/api-keys`, 'GET, HEAD, POST'],
    [`/${id}/api-keys/${parent.keyId}`, 'GET, HEAD, PATCH'],
    [`/${id}/api-keys/${parent.keyId}/rotate`, 'POST'],
    [`/${id}/api-keys/${parent.keyId}/revoke`, 'POST'],
  ];
  for (const [path, allow] of paths) {
    for (const method of ['PUT', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'].concat(
      allow.includes('GET') ? [] : ['GET', 'HEAD'],
      allow.includes('DELETE') ? [] : ['DELETE'],
      allow.includes('PATCH') ? [] : ['PATCH'],
      allow.includes('POST') ? [] : ['POST'],
    )) {
      const response = await parent.call(method, path);
      t.match(response, { status: 405, headers: { allow } }, `${method} ${path}`);
    }
  }
  for (const path of [
    '/',
    `/${id}/`,
    `/${id}/api-keys/`,
    `/${id}/api-keys/${parent.keyId}/`,
    `/${id}/api-keys/${parent.keyId}/rotate/`,
    '/usage/x',
    '/usage/',
  ]) {
    for (const method of ['GET', 'POST', 'DELETE', 'MKCOL']) {
      t.match(
        await parent.call(method, path),
        { status: 404, headers: { allow: undefined } },
        `${method} ${path}`,
      );
    }
  }
});

t.test('HEAD gets the response of GET, without the body', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  for (const path of ['', '/usage', `/${id}`, `/${id}/api-keys`]) {
    const [get, head] = [await parent.call('GET', path), await parent.call('HEAD', path)];
    t.equal(head.status, 200);
    t.equal(head.text, '');
    t.equal(head.headers['content-length'], get.headers['content-length']);
  }
  t.equal((await apis.call('HEAD', '/v1/sub-accounts')).status, 401);
});

t.test('reads ask for sub_accounts:read and writes for sub_accounts:write, exactly', async (t) => {
  const all = await apis.parent();
  const { id } = await all.create();
  const operations: [string, string, 'read' | 'write'][] = [
    ['GET', '', 'read'],
    ['HEAD', '', 'read'],
    ['GET', '/usage', 'read'],
    ['GET', `/${id}`, 'read'],
    ['GET', `/${id}/api-keys`, 'read'],
    ['GET', `/${id}/api-keys/${all.keyId}`, 'read'],
    ['POST', '', 'write'],
    ['PATCH', `/${id}`, 'write'],
    ['POST', `/${id}/deactivate`, 'write'],
    ['POST', `/${id}/reactivate`, 'write'],
    ['POST', `/${id}/api-keys`, 'write'],
    ['PATCH', `/${id}/api-keys/${all.keyId}`, 'write'],
    ['POST', `/${id}/api-keys/${all.keyId}/rotate`, 'write'],
    ['POST', `/${id}/api-keys/${all.keyId}/revoke`, 'write'],
  ];
  for (const scopes of [
    [],
    ['sub_accounts:*'],
    ['sub_accounts'],
    ['SUB_ACCOUNTS:READ'],
    ['sub_accounts:read:of:orders'],
    ['*'],
  ]) {
    const parent = await apis.parent(scopes);
    for (const [method, path, kind] of operations) {
      const response = await parent.call(method, path);
      t.equal(response.status, 403, `${method} ${path} with ${scopes.join()}`);
      if (method !== 'HEAD') {
        t.match(response.body, { code: 'insufficient_scope', scope: `sub_accounts:${kind}` });
        t.match(response.body['detail'], new RegExp(`sub_accounts:${kind}`));
      }
    }
  }
  const reader = await apis.parent(['sub_accounts:read']);
  const writer = await apis.parent(['sub_accounts:write']);
  for (const [method, path, kind] of operations) {
    t.equal((await reader.call(method, path)).status === 403, kind === 'write', `${method} ${path}`);
    t.equal((await writer.call(method, path)).status === 403, kind === 'read', `${method} ${path}`);
  }
});
