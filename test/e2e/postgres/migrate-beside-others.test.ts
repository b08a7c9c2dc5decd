// class: real
/** Migrating while replicas serve and other sessions hold locks: a `pg_dump`, an idle transaction, another process. */
import t from 'tap';
import { migrate, patienceWith, type MigrationWait } from '../../../src/adapters/postgres/schema/migrate.ts';
import { readMigrations } from '../../../src/adapters/postgres/schema/migration-files.ts';
import type { Sql } from '../../../src/adapters/postgres/connection/sql.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { over, rawSql } from '../../support/store.ts';
import type { Scope } from '../../support/servers.ts';

/** The next step, 6, needs the `replica` table to itself. */
const before = 5;

async function databaseAt(t: Scope, version: number): Promise<string> {
  const url = await freshDatabase(t);
  const sql = rawSql(t, url);
  await sql`create table schema_migration (
    version int primary key, name text not null, checksum text not null, compatible_with int not null,
    applied_at timestamptz not null default now()
  )`;
  for (const step of (await readMigrations()).slice(0, version)) {
    await sql.unsafe(step.text).simple();
    await sql`insert into schema_migration (version, name, checksum, compatible_with)
      values (${step.version}, ${step.name}, ${step.checksum}, ${step.compatibleWith})`;
  }
  return url;
}

/** Renews a lease as an old replica does until `ended`, and rejects as soon as one waits longer than 1 s for a lock. */
async function renewUntil(sql: Sql, ended: () => boolean): Promise<number> {
  await sql`set lock_timeout = '1s'`;
  let renewals = 0;
  for (; !ended(); renewals++)
    await sql`insert into replica (id, nonce, lease_ms) values ('old', ${`n${renewals}`}, 3000)
      on conflict (id) do update set nonce = excluded.nonce`;
  return renewals;
}

t.test(
  'a step that has to wait for a lock keeps no lease from being renewed, says who holds it, and comes through',
  async (t) => {
    const url = await databaseAt(t, before);
    const dump = rawSql(t, url);
    const [{ pid }] = await dump<[{ pid: number }]>`select pg_backend_pid() as pid`;
    const waits: MigrationWait[] = [];
    const steps: string[] = [];
    let done = false;
    const renewing = renewUntil(rawSql(t, url), () => done);
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
          );
          resolve({ end });
        });
      });
    });
    const { length: newest } = await readMigrations();
    t.equal(await migrating.end, newest);
    done = true;
    t.ok((await renewing) > 0);
    t.equal(steps.length, newest - before, 'every step was applied once the lock was free');
    t.equal(waits[0]?.step, '0006 replica_notes');
    t.match(waits[0]?.waitsFor, /^AccessExclusiveLock on replica, held by process /);
    t.match(
      waits[0]?.waitsFor,
      new RegExp(`process ${pid} \\(pg_dump, idle in transaction, its transaction began`),
    );
  },
);

t.test('steps before the one that has to wait are kept', async (t) => {
  const url = await databaseAt(t, before - 1);
  const holder = rawSql(t, url);
  await holder.begin(async (tx) => {
    await tx`lock table replica in access share mode`;
    const steps: string[] = [];
    const stop = new Error('stop here');
    await t.rejects(
      migrate(over(rawSql(t, url)), {
        onStep: (step) => steps.push(step),
        onWait: () => {
          throw stop;
        },
      }),
      stop,
    );
    t.same(steps, ['0005 idempotency']);
    const [{ newest }] = await tx<[{ newest: number }]>`select max(version) as newest from schema_migration`;
    t.equal(newest, before);
  });
});

t.test(
  'while another process migrates, this one waits without a lock and without a transaction',
  async (t) => {
    const url = await databaseAt(t, before);
    const other = rawSql(t, url);
    const waiting = rawSql(t, url);
    const [{ pid }] = await waiting<[{ pid: number }]>`select pg_backend_pid() as pid`;
    let end: Promise<number> | undefined;
    await other.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7311970451)`;
      const wait = await new Promise<MigrationWait>((resolve) => {
        end = migrate(over(waiting), { onWait: resolve });
      });
      t.match(wait, { step: '0006 replica_notes', waitsFor: /another process/, elsewhere: true });
      const locks = await tx`select from pg_locks where pid = ${pid} and relation = 'replica'::regclass`;
      t.same(locks, []);
    });
    t.equal(await end, (await readMigrations()).length);
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
