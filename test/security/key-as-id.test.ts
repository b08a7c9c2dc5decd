// class: app
/** A key that somebody takes for an id: the path with it would stand in the log, the traces and the live tail. */
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';

t.test('paths of both APIs are logged without keys', async (t) => {
  const paths: string[] = [];
  const apis = await startApis(t, {
    store: await embeddedStore(t),
    deps: {
      observe: ({ path }) => void paths.push(path),
      observeOperator: ({ path }) => void paths.push(path),
    },
  });
  const parent = await apis.parent();
  const { key } = parent;
  paths.length = 0;
  await parent.call('GET', `/${key}`);
  await parent.call('DELETE', `/${parent.id}/api-keys/${key}`);
  await apis.operator('POST', `/api-keys/${key}/revoke`);
  await apis.operator('POST', `/api-keys/${key.replace('tgw', 'acme')}/revoke`);
  await eventually(() => paths.length >= 4);
  t.same(paths.toSorted(), [
    '/admin/v1/api-keys/[secret]/revoke',
    '/admin/v1/api-keys/[secret]/revoke',
    `/v1/sub-accounts/${parent.id}/api-keys/[secret]`,
    '/v1/sub-accounts/[secret]',
  ]);
});

t.test('so are those of requests that are rejected before they are management calls', async (t) => {
  const { call, parent, finished } = await startGateway(t, { routes: {} });
  await call('DELETE', `/v1/sub-accounts/x/api-keys/${parent.key}`, { headers: [['Expect', 'foo']] });
  await eventually(() => finished.length === 1);
  t.match(finished, [{ path: '/v1/sub-accounts/x/api-keys/[secret]', status: 417 }]);
});
