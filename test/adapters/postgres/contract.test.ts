// class: app
import t from 'tap';
import { storeContracts } from '../../contract/all.ts';
import { freshStore } from '../../support/store.ts';

t.test('PostgreSQL', async (t) => {
  const { store } = await freshStore(t);
  await storeContracts(t, store);
});
