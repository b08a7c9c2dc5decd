// class: real
/**
 * The log after an hour of changes. `LOG_ROWS=1000000` for as many as 278 changes a second make.
 */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { openPostgres } from '../../../src/adapters/postgres/store.ts';
import { startCoherence } from '../../../src/coherence/coherence.ts';
import { noFactCache } from '../../../src/coherence/no-fact-cache.ts';
import { changesKept } from '../../../src/coherence/retention.ts';
import { systemClock } from '../../../src/ports/clock.ts';
import { systemTimers } from '../../../src/ports/timers.ts';
import { eventually } from '../../support/eventually.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { migrated, rawSql } from '../../support/store.ts';

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
    const store = openPostgres({ url, maxConnections: 8 });
    t.teardown(() => store.close());
    const replica = startCoherence({
      log: store.log,
      source: store.facts,
      cache: noFactCache,
      clock: systemClock,
      timers: systemTimers,
      config: { leaseMs, maxFacts: 1_000 },
      logger: { info: () => undefined, warn: () => undefined },
      randomId: randomUUID,
    });
    t.teardown(() => replica.stop());
    const since = performance.now();
    await eventually(() => replica.ready());
    const readyMs = performance.now() - since;
    t.ok(readyMs < 5_000, `ready after ${Math.round(readyMs)} ms`);
    t.equal(replica.snapshot().applied, rows);
    t.ok(replica.snapshot().recentChanges <= changesKept);

    await store.markRestored();
    const { incarnation } = await store.log.replicas();
    const restored = performance.now();
    await eventually(() => replica.snapshot().incarnation === incarnation && replica.ready());
    const backMs = performance.now() - restored;
    t.ok(backMs < leaseMs + 5_000, `in another history after ${Math.round(backMs)} ms`);

    const pruning = performance.now();
    const before = rows - changesKept;
    let longestMs = 0;
    for (let more = true; more;) {
      const began = performance.now();
      more = await store.log.prune({ incarnation, before, most: 5_000 });
      longestMs = Math.max(longestMs, performance.now() - began);
    }
    const prunedMs = performance.now() - pruning;
    const [left] = await sql`select count(*)::int as rows, min(seq)::int as first from coherence_log`;
    t.same(left, { rows: changesKept + 1, first: before });
    t.ok(prunedMs < (before / 278) * 1_000, 'many times as fast as changes come');
    t.comment(
      `${rows} rows: ready in ${Math.round(readyMs)} ms, back in ${Math.round(backMs)} ms, ` +
        `pruned in ${Math.round(prunedMs)} ms, the longest portion ${Math.round(longestMs)} ms`,
    );
  },
);
