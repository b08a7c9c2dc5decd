// class: real
/** The log after an hour of changes. `LOG_ROWS=1000000` for as many as 278 changes a second make. */
import t from 'tap';
import { changesKept } from '../../../src/coherence/retention.ts';
import { decidingReplica } from '../../support/deciding-replica.ts';
import { eventually } from '../../support/eventually.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { migrated, rawSql, storeAt } from '../../support/store.ts';

const rows = Number(process.env['LOG_ROWS'] ?? 200_000);
const leaseMs = 3_000;
const portion = 50_000;

t.test(
  'however long the log is, a new replica is ready, a failover ends, and pruning gets through',
  async (t) => {
    const url = await freshDatabase(t, migrated);
    const sql = rawSql(t, url);
    for (let from = 1; from <= rows; from += portion)
      await sql`insert into coherence_log (seq, key, withdrawn)
      select g, 'k:' || md5(g::text), true from generate_series(${from}::int, ${Math.min(rows, from + portion - 1)}::int) g`;
    await sql`insert into coherence_taken (seq) values (${rows})`;
    const store = storeAt(t, url, { maxConnections: 8 });
    const replica = decidingReplica(t, store, leaseMs).coherence;
    await eventually(() => replica.ready());
    t.equal(replica.snapshot().applied, rows);
    t.ok(replica.snapshot().recentChanges <= changesKept);

    await store.markRestored();
    const { incarnation } = await store.log.replicas();
    await eventually(() => replica.snapshot().incarnation === incarnation && replica.ready());

    await replica.stop();
    const [before, most] = [rows - changesKept, 5_000];
    let portions = 1;
    while (await store.log.prune({ incarnation, before, most })) portions += 1;
    t.equal(portions, Math.ceil(before / most), 'each deletes as much as it may');
    const [left] = await sql`select count(*)::int as rows, min(seq)::int as first from coherence_log`;
    t.same(left, { rows: changesKept + 1, first: before });
  },
);
