// class: app
/** Changes that wait for a connection while their key is revoked. */
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { eventually } from '../support/eventually.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { freshStore, rawSql, storeAt } from '../support/store.ts';

t.test('a write that waits for a connection while its key is revoked is 401 and does nothing', async (t) => {
  const { url, store } = await freshStore(t, { maxConnections: 4, deadlines: { queryMs: 60_000 } });
  const otherStore = storeAt(t, url);
  let asked = false;
  const createSubAccount: typeof store.tenants.createSubAccount = (...parameters) => {
    asked = true;
    return store.tenants.createSubAccount(...parameters);
  };
  const apis = await startApis(t, { store, deps: { tenants: { ...store.tenants, createSubAccount } } });
  const { operator } = await startApis(t, { store: otherStore });
  const parent = await apis.parent();
  const [sql, looking] = [rawSql(t, url), rawSql(t, url)];
  let late: Promise<HttpResponse> | undefined;
  let report: Promise<HttpResponse> | undefined;
  await sql.begin(async (tx) => {
    // The report takes the only connection that a tenant may have of four, and keeps it until this transaction ends.
    await tx`lock table usage_hourly in access exclusive mode`;
    report = parent.call('GET', '/usage?from=2030-01-01&to=2030-01-02');
    await eventually(async () => {
      const [row] = await looking`select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return row?.['n'] === 1;
    });
    late = parent.call('POST', '', { body: { name: 'Late' } });
    await eventually(() => asked);
    t.equal((await operator('POST', `/accounts/${parent.id}/api-keys/${parent.keyId}/revoke`)).status, 200);
  });
  t.match(await late, { status: 401, body: { code: 'api_key_revoked' } });
  t.equal((await report)?.status, 200, 'what was decided about before is read');
  t.same(await looking`select id from account where parent_id = ${parent.id}`, []);
});
