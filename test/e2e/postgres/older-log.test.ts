// class: real
/** Leases and the log while replicas of 0.1.0 run: during the steps that change both, and beside this version. */
import t from 'tap';
import { readMigrations } from '../../../src/adapters/postgres/schema/migration-files.ts';
import { eventually } from '../../support/eventually.ts';
import {
  databaseOf010,
  newClaim,
  of010,
  read010,
  register010,
  schemaOf010,
} from '../../support/release-010.ts';
import { rawSql } from '../../support/store.ts';

/** Whether a step makes tables, and no triggers, which need functions. */
function makesTablesAlone(text: string): boolean {
  return /^create table/m.test(text) && !/^create trigger/m.test(text);
}

/** The steps since 0.1.0 that make functions, and the tables that these need. */
async function newSteps(): Promise<{ readonly tables: string; readonly functions: string }> {
  const steps = (await readMigrations()).slice(schemaOf010);
  const first = steps.findIndex(({ name }) => name === 'new_functions');
  const textOf = (some: typeof steps): string => some.map(({ text }) => text).join('');
  return {
    tables: textOf(steps.filter(({ text }, i) => i < first || makesTablesAlone(text))),
    functions: textOf(steps.filter(({ name }) => name.endsWith('_functions'))),
  };
}

t.test('the steps that make functions wait for no change at work and hold up no lease', async (t) => {
  const { url, sql } = await databaseOf010(t);
  const { tables, functions } = await newSteps();
  await sql.unsafe(tables).simple();
  const old = of010(sql);
  const parent = await old.createParent();
  const sub = (await old.createSub(parent)).account.id;
  await sql.begin(async (tx) => {
    await of010(tx).setStatus(parent, sub, 'deactivated');
    await of010(tx).createSub(parent, newClaim());
    await register010(tx, 'r');
    const migrating = rawSql(t, url);
    await migrating`set lock_timeout = '1s'`;
    await migrating.unsafe(functions).simple();
  });
  t.pass('migrated while rows of every table were locked');

  const again = await databaseOf010(t);
  await again.sql.unsafe(tables).simple();
  await again.sql.begin(async (tx) => {
    await tx.unsafe(functions).simple();
    const beside = rawSql(t, again.url);
    await register010(beside, 'r');
    await beside`select replica_ack('r', 1, 0)`;
    t.match(await of010(beside).createSub(await of010(beside).createParent(), newClaim()), {
      outcome: 'done',
    });
  });
  t.match(await again.sql`select id, acked from replica`, [{ id: 'r', acked: '1' }]);
});

t.test('leases are renewed while the log gets its index', async (t) => {
  const { url, sql } = await databaseOf010(t);
  const parent = await of010(sql).createParent();
  await of010(sql).createSub(parent);
  const [log] = (await readMigrations()).slice(schemaOf010);
  const beside = rawSql(t, url);
  await sql.begin(async (tx) => {
    await tx.unsafe(log?.text ?? '').simple();
    await register010(beside, 'r');
    await beside`select replica_ack('r', 1, 0)`;
    t.match(await read010(beside, 0), { seq: 1, entries: [[1, `n:${parent}`, false]] });
  });
});

t.test('while a replica of 0.1.0 is registered, it reads the position it knows where to find', async (t) => {
  const { sql, store } = await databaseOf010(t);
  const old = of010(sql);
  await store.migrate();
  const parent = await old.createParent();
  const sub = (await old.createSub(parent)).account.id;
  const status = (to: string): Promise<number | null> =>
    old.setStatus(parent, sub, to).then(({ seq }) => Number(seq));
  await store.log.register({ id: 'new', nonce: 'n', leaseMs: 1_000 });
  await status('deactivated');
  t.match(await read010(sql, 0), { seq: 0 }, 'nothing is written for replicas that are not there');

  await register010(sql, 'old');
  t.match(await read010(sql, 0), { seq: 2 }, 'from its first reading on');
  const revoked = await status('active').then(() => status('deactivated'));
  const reading = await read010(sql, 2);
  t.match(reading, { seq: revoked, entries: [[revoked, `a:${sub}`, true], [revoked, `n:${parent}`, false]] }); // prettier-ignore
  await register010(sql, 'old', 'next');
  t.match(await read010(sql, 2), reading);

  await sql`delete from replica where id = 'old'`;
  const after = await status('active');
  t.match(await read010(sql, 2), { seq: revoked });
  t.equal((await store.log.replicas()).seq, after);
  await register010(sql, 'old');
  t.match(await read010(sql, 2), { seq: after }, 'and when it comes back');
});

t.test('a change and a replica of 0.1.0 that appear at once do not miss each other', async (t) => {
  const { url, sql, store } = await databaseOf010(t);
  await store.migrate();
  const old = of010(sql);
  const parent = await old.createParent();
  const sub = (await old.createSub(parent)).account.id;
  let registered: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await of010(tx).setStatus(parent, sub, 'deactivated');
    const beside = rawSql(t, url);
    const [{ pid }] = await beside<[{ pid: number }]>`select pg_backend_pid() as pid`;
    registered = register010(beside, 'old');
    await eventually(async () => {
      const [row] = await tx`select wait_event_type from pg_stat_activity where pid = ${pid}`;
      return row?.['wait_event_type'] === 'Lock';
    });
  });
  await registered;
  t.match(await read010(sql, 0), { seq: 2 });
});

t.test('what a replica of 0.1.0 prunes takes no position back', async (t) => {
  const { sql, store } = await databaseOf010(t);
  await store.migrate();
  const old = of010(sql);
  await old.createSub(await old.createParent());
  await old.createSub(await old.createParent());
  await sql`with gone as (delete from coherence_log where at < now() + interval '1 hour' returning seq)
    update coherence_seq set floor = greatest(floor, (select max(seq) + 1 from gone)) where exists (select from gone)`;
  t.match(await store.log.readAfter(null, 10), { seq: 2, through: 2, floor: 3, entries: [] });
  t.equal(Number((await old.createSub(await old.createParent())).seq), 3);
});

t.test(
  'for a while after the step, changes that 0.1.0 had begun count on from the position it knows',
  async (t) => {
    const { sql, store } = await databaseOf010(t);
    const old = of010(sql);
    await register010(sql, 'old');
    await store.migrate();
    await sql`delete from replica`;
    const { seq } = await old.createSub(await old.createParent());
    t.match(await read010(sql, 0), { seq: Number(seq) });
  },
);
