// class: app
/** An external_id in a path of the gateway's own, which the log would keep longer than the account. */
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';

t.test('paths are logged without the external_id at their end, however the call goes', async (t) => {
  const paths: string[] = [];
  const apis = await startApis(t, {
    store: await embeddedStore(t),
    deps: { observe: ({ path }) => void paths.push(path) },
  });
  const parent = await apis.parent();
  const before = paths.length;
  await parent.call('PUT', '/by-external-id/canary', { body: { name: 'x' } });
  await parent.call('PUT', '/by-external-id/canary%2Fcanary?canary=1', { body: { name: '' } });
  await parent.call('GET', '/by-external-id/canary');
  await parent.call('PUT', '/By-External-Id/canary', { body: { name: 'x' } });
  await parent.call('PUT', '/by%2Dexternal-i%64/canary', { body: { name: 'x' } });
  await apis.call('PUT', '/v1/sub-accounts/by-external-id/canary');
  await eventually(() => paths.length === before + 6);
  for (const path of paths.slice(before)) t.notMatch(path, 'canary');
  t.equal(paths[before], '/v1/sub-accounts/by-external-id/:external_id');
});

t.test('so are those of requests that are rejected before they are management calls', async (t) => {
  const { call, port, finished } = await startGateway(t, { routes: {} });
  const path = '/v1/sub-accounts/by-external-id/canary';
  await call('PUT', path, { headers: [['Expect', 'foo']] });
  await call('PUT', path, { headers: [['Content_Length', '3']] });
  await call('PUT', `${path}%2f..%2fcanary`);
  await call('PUT', '/v1/./sub-accounts/by-external%2did/canary');
  await call('PUT', `http://127.0.0.1:${port}/v1/sub-accounts//by-external-id/canary`);
  await eventually(() => finished.length === 5);
  for (const { path, status } of finished) t.match({ path, status }, { path: /:external_id$/, status: /^4/ });
  t.notMatch(JSON.stringify(finished), 'canary');
});
