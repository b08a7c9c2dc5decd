// class: night
import t from 'tap';
import { openPostgres } from '../../../src/adapters/postgres/store.ts';
import { storeContracts } from '../../contract/all.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { startPooler, withoutPgbouncer as skip } from '../../support/pgbouncer.ts';
import { unhurried } from '../../support/unhurried.ts';

t.test('every statement of the store works through a transaction pooler', { skip }, async (t) => {
  const directUrl = await freshDatabase(t);
  const { url } = await startPooler(t, directUrl);
  const store = openPostgres({ url, directUrl, maxConnections: 4, ...unhurried });
  t.teardown(() => store.close());
  await store.migrate();
  await storeContracts(t, store);
});
