// class: app
import t from 'tap';
import { eventually } from '../../support/eventually.ts';
import { startReplicas } from '../../support/replicas.ts';
import { rawSql } from '../../support/store.ts';

interface Listed {
  readonly id: string;
  readonly self: boolean;
  readonly figures: Readonly<Record<string, unknown>> | null;
}

const replicas = await startReplicas(t);
const { key } = await replicas.parent();
const listed = async (): Promise<readonly Listed[]> =>
  (await replicas.operator('GET', '/replicas')).body['data'] as readonly Listed[];

t.test('each replica shows the figures of all, which count what each has served', async (t) => {
  for (let i = 0; i < 3; i++) await replicas.call('GET', '/orders', { key });
  await replicas.call('GET', '/orders', { key: 'unknown' });
  const refused = ({ figures }: Listed): boolean => JSON.stringify(figures?.['refusals'] ?? []).includes('"');
  let all: readonly Listed[] = [];
  await eventually(async () => {
    all = await listed();
    return all.some(refused) && all.every(({ figures }) => figures !== null);
  });
  t.equal(all.length, 2);
  for (const { figures } of all) {
    t.match(figures, { ready: true, unready: [], redis: 'up', certificate_expires_at: null });
    t.ok(Number(figures?.['rss_bytes']) > 1e6);
    t.ok(Math.abs(Date.parse(String(figures?.['reported_at'])) - Date.now()) < 60_000);
  }
  const other = all.find(({ self }) => !self);
  t.match(other?.figures, {
    refusals: [{ code: 'invalid_api_key', count: 1 }],
    p50_ms: Number,
    p99_ms: Number,
  });
  t.ok(Number(other?.figures?.['requests_per_second']) > 0);
});

t.test(
  'a replica that reports nothing has no figures, nor does one that reported over a minute ago',
  async (t) => {
    const sql = rawSql(t, replicas.databaseUrl);
    await sql`select replica_renew(id, 'n', 60000, 0, '1.0.0', 'host', false, null, 1) from unnest(array['old', 'late']) as id`;
    await sql`
    insert into replica_figures (replica, reported_at, figures)
    select 'late', now() - interval '2 minutes', figures from replica_figures limit 1`;
    const rows = (await listed()).filter(({ id }) => ['old', 'late'].includes(id));
    t.same(
      rows.map(({ figures }) => figures),
      [null, null],
    );
    await sql`delete from replica where id in ('old', 'late')`;
  },
);
