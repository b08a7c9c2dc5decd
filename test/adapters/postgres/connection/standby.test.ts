// class: real
/** One name for the database, which leads to a standby for a while, as after a switchover; no connection is cut. */
import t from 'tap';
import type { Store } from '../../../../src/adapters/postgres/store.ts';
import { digestSecret } from '../../../../src/domain/api-key.ts';
import { factKey } from '../../../../src/ports/facts.ts';
import { eventually } from '../../../support/eventually.ts';
import { startPostgres, startStandby } from '../../../support/postgres.ts';
import { createParent, problemCode, rawSql, storeAt } from '../../../support/store.ts';
import { TcpProxy } from '../../../support/tcp-proxy.ts';

const renewal = { id: 'r', nonce: 'n', leaseMs: 3_000, streamsMs: 0 };
const absent = factKey.key(digestSecret('none'));

t.test('a store that reached a standby leaves it by itself once its name leads to the primary', async (t) => {
  const primary = await startPostgres(t);
  await storeAt(t, primary.url).migrate();
  const standby = await startStandby(t, primary);
  await eventually(async () => (await rawSql(t, standby.url)`select from replica limit 0`).length === 0);
  const name = await TcpProxy.open(t, standby.url);
  const store = storeAt(t, name.url);

  const uses: Record<string, (store: Store) => Promise<unknown>> = {
    'the lease': ({ log }) => log.register(renewal),
    'what it reads': ({ log }) => log.readAfter(null, 10),
    changes: ({ tenants }) => createParent(tenants),
    facts: ({ facts }) => facts.readFacts([absent]),
  };
  for (const [what, use] of Object.entries(uses))
    t.equal(await problemCode(use(store)), 'unavailable', `a standby serves none of ${what}`);
  name.leadTo(primary.url);
  for (const [what, use] of Object.entries(uses)) {
    await eventually(async () => (await problemCode(use(store))) === undefined);
    t.pass(`${what}: on the primary`);
  }
});
