// class: app
import t from 'tap';
import { openEmbedded } from '../../../src/adapters/embedded/store.ts';
import { storeContracts } from '../../contract/all.ts';
import { madeDataDir } from '../../support/embedded.ts';

t.test('the embedded store', async (t) => {
  const store = await openEmbedded(await madeDataDir(t));
  t.teardown(() => store.close());
  await store.migrate();
  await storeContracts(t, store);
});
