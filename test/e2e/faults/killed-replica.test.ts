// class: real
/** What an operator sees of a change that has to wait out a replica which was killed, with real processes. */
import t from 'tap';
import { makeParents, operatorToken } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient, type Call } from '../../support/http-client.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { migrated, rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';

t.test('a revoke right after kill -9 says so in its receipt, and the metric counts it', async (t) => {
  const databaseUrl = await freshDatabase(t, migrated);
  const sql = rawSql(t, databaseUrl);
  const env = {
    DATABASE_URL: databaseUrl,
    UPSTREAM_URL: (await startUpstream(t)).url,
    ADMIN_TOKEN: operatorToken,
    LOG_LEVEL: 'error',
  };
  const processes = [
    await startProcess(t, env),
    await startProcess(t, env),
    await startProcess(t, env),
  ] as const;
  await Promise.all(processes.map(({ internalUrl }) => becomes(internalUrl, 200)));
  const [first, second, killed] = processes;
  const internal = httpClient(t, first.internalUrl);
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
  const parent = await makeParents(httpClient(t, first.url), operator)();
  const sub = await parent.create();

  /** Mints a key and revokes it, with `between` in between. Returns the receipt. */
  async function revoke(between: () => Promise<unknown>): Promise<string> {
    const { body } = await parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'k' } });
    await between();
    const { status, headers } = await parent.call('POST', `/${sub.id}/api-keys/${String(body['id'])}/revoke`);
    t.equal(status, 200);
    return String(headers['x-service-enforced']);
  }
  async function counted(internalUrl: string): Promise<string | undefined> {
    const text = await (await fetch(`${internalUrl}/metrics`)).text();
    return /^tenancy_gateway_barrier_unheard_total (\d+)$/m.exec(text)?.[1];
  }

  t.match(await revoke(async () => undefined), /^replicas=3; ms=\d+$/);
  t.equal(await counted(first.internalUrl), '0');
  t.match(await revoke(() => killed.program.kill('SIGKILL')), /^replicas=3; ms=\d+; unheard=1$/);
  t.equal(await counted(first.internalUrl), '1');
  t.equal(await counted(second.internalUrl), '0', 'of the replica that made the change');
  await eventually(async () => (await sql`select from replica`).length === 2);
  t.match(await revoke(async () => undefined), /^replicas=2; ms=\d+$/);
  t.equal(await counted(first.internalUrl), '1');
});
