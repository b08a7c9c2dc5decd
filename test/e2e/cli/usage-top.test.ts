import t from 'tap';
import { openPostgres } from '../../../src/adapters/postgres/store.ts';
import { operatorToken } from '../../support/apis.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, cli, startProcess } from '../../support/process.ts';
import { createParent, createSub, migrated } from '../../support/store.ts';
import { addUsage, hour, usageRow } from '../../support/usage-rows.ts';

t.test('who used most is told, of all there are, by what is asked for', async (t) => {
  const DATABASE_URL = await freshDatabase(t, migrated);
  const store = openPostgres({ url: DATABASE_URL, maxConnections: 4 });
  t.teardown(() => store.close());
  const { id: parent } = await createParent(store.tenants);
  const { id: other } = await createParent(store.tenants);
  const subs: string[] = [];
  for (let i = 0; i < 5; i++)
    subs.push((await createSub(store.tenants, parent, { name: `Sub ${i}` })).value.id);
  const now = Math.floor(Date.now() / hour) * hour;
  await addUsage({ store }, [
    ...subs.map((id, i) => usageRow(id, now, { requests: 10 * (i + 1), bytesOut: 1000 - i })),
    usageRow(other, now - hour, { requests: 50 }),
    usageRow(other, now - 48 * hour, { requests: 1_000 }),
  ]);
  const { internalUrl } = await startProcess(t, {
    ...{ DATABASE_URL, ADMIN_TOKEN: operatorToken, UPSTREAM_URL: 'http://127.0.0.1:9' },
  });
  await becomes(internalUrl, 200);
  const env = { ADMIN_TOKEN: operatorToken };
  const top = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await cli(env, '--url', internalUrl, '--json', 'usage', 'top', ...args);
    t.equal(code, 0, stderr);
    return JSON.parse(stdout) as { total: number; data: Record<string, unknown>[] };
  };
  const byParent = await top();
  t.match(byParent.data, [
    { account_id: parent, requests: 150 },
    { account_id: other, requests: 50 },
  ]);
  t.equal(byParent.total, 200, 'since the last hour began');
  const bySub = await top('--group-by', 'sub_account', '--limit', '3');
  t.same(
    bySub.data.map(({ sub_account_id, requests }) => [sub_account_id, requests]).map(([, n]) => n),
    [50, 50, 40],
  );
  t.equal(bySub.total, 200, 'of all, not of those that are shown');
  const bytes = await top('--group-by', 'sub_account', '--by', 'bytes_out');
  t.equal(bytes.data[0]?.['sub_account_id'], subs[0]);
  t.equal(bytes.data.length, 5, 'accounts that have none of it are not in the list');
  const long = await top('--from', new Date(now - 72 * hour).toISOString());
  t.equal(long.data[0]?.['account_id'], other);
  const { stdout } = await cli(env, '--url', internalUrl, 'usage', 'top', '--group-by', 'sub_account');
  t.match(stdout, /ACCOUNT +NAME +REQUESTS +SHARE[^]*Sub 4 +50 +25\.0 %/);
});
