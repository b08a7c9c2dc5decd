// class: app
import t from 'tap';
import { storeContracts } from '../../contract/all.ts';
import { freshStore } from '../../support/store.ts';

t.test('PostgreSQL', async (t) => {
  const { store } = await freshStore(t);
  await storeContracts(t, store);
});

t.test('PostgreSQL without prepared statements, as behind a transaction pooler', async (t) => {
  const { url } = await freshStore(t);
  const { store } = await freshStore(t, { url: `${url}?prepare=false` });
  await storeContracts(t, store);
});
