// class: app
import t from 'tap';
import { storeContracts } from '../../contract/all.ts';
import { freshStore } from '../../support/store.ts';

/** Many calls at once wait for few connections, and on a busy machine for long. */
const deadlines = { coherenceMs: 60_000, queryMs: 60_000, tokensMs: 60_000 };

t.test('PostgreSQL', async (t) => {
  const { store } = await freshStore(t, { deadlines });
  await storeContracts(t, store);
});

t.test('PostgreSQL without prepared statements, as behind a transaction pooler', async (t) => {
  const { url } = await freshStore(t);
  const { store } = await freshStore(t, { url: `${url}?prepare=false`, deadlines });
  await storeContracts(t, store);
});
