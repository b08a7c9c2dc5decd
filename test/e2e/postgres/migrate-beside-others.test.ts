// class: real
/** Migrating while replicas serve and other sessions hold locks: a `pg_dump`, an idle transaction, another process. */
import t from 'tap';
import { migrate, patienceWith, type MigrationWait } from '../../../src/adapters/postgres/schema/migrate.ts';
import { readSchemaFiles } from '../../../src/adapters/postgres/schema/files.ts';
import type { Sql } from '../../../src/adapters/postgres/connection/sql.ts';
import { eventually } from '../../support/eventually.ts';
import { nextSchema, step } from '../../support/next-schema.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { migrated, over, rawSql } from '../../support/store.ts';

const { steps: own } = await readSchemaFiles();
/** Of a made-up next version: a step that suits replicas while it runs, and one that needs the `replica` table to itself. */
const easy = step(own.length + 1, 'easy', 'create table example (id int)', own.length);
const locking = step(own.length + 2, 'locking', 'alter table replica add column note text', own.length);
const next = await nextSchema([easy, locking]);
const [easyName, lockingName] = [easy, locking].map(
  ({ number, name }) => `${String(number).padStart(4, '0')} ${name}`,
);

/** Renews a lease as an old replica does, again and again until `done` is set. */
async function renew(sql: Sql, renewing: { done: boolean; times: number }): Promise<void> {
  for (; !renewing.done; renewing.times++)
    await sql`insert into replica (id, nonce, level, lease_ms, streams_ms) values ('old', ${`n${renewing.times}`}, 1, 3000, 0)
      on conflict (id) do update set nonce = excluded.nonce`;
}

t.test(
  'a step that has to wait for a lock keeps no lease from being renewed, says who holds it, and comes through',
  async (t) => {
    const url = await freshDatabase(t, migrated);
    const dump = rawSql(t, url);
    const [{ pid }] = await dump<[{ pid: number }]>`select pg_backend_pid() as pid`;
    const waits: MigrationWait[] = [];
    const steps: string[] = [];
    const renewing = { done: false, times: 0 };
    const renewed = renew(rawSql(t, url), renewing);
    const migrating = await new Promise<{ readonly end: Promise<number> }>((resolve) => {
      void dump.begin('isolation level repeatable read', async (tx) => {
        await tx`set local application_name = 'pg_dump'`;
        await tx`lock table replica in access share mode`;
        await new Promise<void>((waited) => {
          const onWait = (wait: MigrationWait): void => {
            waits.push(wait);
            waited();
          };
          const end = migrate(
            over(rawSql(t, url)),
            { onWait, onStep: (step) => steps.push(step) },
            over(rawSql(t, url)),
            next,
          );
          resolve({ end });
        });
        const { times } = renewing;
        await eventually(() => waits.length > 2 && renewing.times > times + 100);
      });
    });
    t.equal(await migrating.end, next.functions.number);
    renewing.done = true;
    await renewed;
    t.same(steps, [easyName, lockingName], 'every step was applied once the lock was free');
    t.equal(waits[0]?.step, lockingName);
    t.match(waits[0]?.waitsFor, /^AccessExclusiveLock on replica, held by process /);
    t.match(
      waits[0]?.waitsFor,
      new RegExp(`process ${pid} \\(pg_dump, idle in transaction, its transaction began`),
    );
  },
);

t.test('steps before the one that has to wait are kept', async (t) => {
  const url = await freshDatabase(t, migrated);
  const holder = rawSql(t, url);
  await holder.begin(async (tx) => {
    await tx`lock table replica in access share mode`;
    const steps: string[] = [];
    const stop = new Error('stop here');
    await t.rejects(
      migrate(
        over(rawSql(t, url)),
        {
          onStep: (step) => steps.push(step),
          onWait: () => {
            throw stop;
          },
        },
        over(rawSql(t, url)),
        next,
      ),
      stop,
    );
    t.same(steps, [easyName]);
    t.same(await tx`select name from schema_step`, [{ name: 'easy' }]);
  });
});

t.test(
  'while another process migrates, this one waits without a lock and without a transaction',
  async (t) => {
    const url = await freshDatabase(t, migrated);
    const other = rawSql(t, url);
    const waiting = rawSql(t, url);
    const [{ pid }] = await waiting<[{ pid: number }]>`select pg_backend_pid() as pid`;
    let end: Promise<number> | undefined;
    await other.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7311970451)`;
      const wait = await new Promise<MigrationWait>((resolve) => {
        end = migrate(over(waiting), { onWait: resolve }, over(waiting), next);
      });
      t.match(wait, { step: easyName, waitsFor: /another process/, elsewhere: true });
      const locks = await tx`select from pg_locks where pid = ${pid} and relation = 'replica'::regclass`;
      t.same(locks, []);
    });
    t.equal(await end, next.functions.number);
  },
);

t.test(
  'a step waits for a lock for less than the shortest lease can spare, and pauses longer in a large fleet',
  async (t) => {
    for (const leaseMs of [200, 500, 3_000, 60_000]) {
      const { lockWaitMs } = patienceWith(leaseMs, 3);
      t.ok(lockWaitMs < leaseMs / 4 && lockWaitMs <= 200, `T = ${leaseMs} ms: ${lockWaitMs} ms`);
    }
    t.match(patienceWith(null, 0), { lockWaitMs: 200 });
    t.ok(patienceWith(3_000, 50).pauseMs > patienceWith(3_000, 3).pauseMs);
    t.ok(
      patienceWith(3_000, 5_000).pauseMs * 1.25 < 30_000,
      'migrated within 30 s of the release of the locks',
    );
  },
);
