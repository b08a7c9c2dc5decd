// class: app
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { freshStore } from '../../support/store.ts';

t.test('new keys begin with the configured prefix, and those made before go on working', async (t) => {
  const { store } = await freshStore(t);
  const before = await startApis(t, { store });
  const after = await startApis(t, { store, keyPrefix: 'acme_live' });
  const old = await before.parent();
  const parent = await after.parent();
  t.match(parent.key, /^acme_live_[0-9A-Za-z]{39}$/);
  const [key] = (await after.operator('GET', `/accounts/${parent.id}/api-keys`)).body['data'] as [
    Record<string, string>,
  ];
  t.match(key, { prefix: parent.key.slice(0, 14), last4: parent.key.slice(-4) });
  for (const apis of [before, after]) {
    t.equal((await apis.call('GET', '/v1/sub-accounts', { key: parent.key })).status, 200);
    t.equal((await apis.call('GET', '/v1/sub-accounts', { key: old.key })).status, 200);
  }
});
