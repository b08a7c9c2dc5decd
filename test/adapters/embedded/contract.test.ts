// class: app
import t from 'tap';
import { storeContracts } from '../../contract/all.ts';
import { embeddedStore } from '../../support/embedded.ts';

t.test('the embedded store', async (t) => {
  await storeContracts(t, await embeddedStore(t));
});
