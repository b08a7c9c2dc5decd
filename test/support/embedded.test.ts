// class: app
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openEmbedded } from '../../src/adapters/embedded/store.ts';
import { madeDataDir } from './embedded.ts';
import { longMs } from './unhurried.ts';

t.test('a copy of the template has a migrated database in it', async (t) => {
  const dataDir = await madeDataDir(t);
  t.match(await readFile(join(dataDir, 'pglite/PG_VERSION'), 'utf8'), /^\d+$/m);

  const store = await openEmbedded(dataDir, () => t.fail('the database was made anew'), longMs);
  t.teardown(() => store.close());
  await store.migrate({ onStep: (step) => t.fail(`${step} had not been applied`) });
});
