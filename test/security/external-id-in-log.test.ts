/** An external_id in a path of the gateway's own, which the log would keep longer than the account. */
import t from 'tap';
import { embeddedStore, startApis } from '../support/apis.ts';
import { eventually } from '../support/eventually.ts';

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
  await apis.call('PUT', '/v1/sub-accounts/by-external-id/canary');
  await eventually(() => paths.length === before + 5);
  for (const path of paths.slice(before)) t.notMatch(path, 'canary');
  t.equal(paths[before], '/v1/sub-accounts/by-external-id/:external_id');
});
