// class: app
/** What a migration may do while replicas serve; docs/maintainers/contributing.md says it in words. */
import t from 'tap';
import { readMigrations } from '../../../../src/adapters/postgres/schema/migration-files.ts';
import { faultsOfStep, fill } from '../../../support/migration-locks.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { migrated, rawSql } from '../../../support/store.ts';

/** The steps of 0.1.0 are in every database; they cannot become better. */
const lastOfOld = 6;

t.test('no migration locks what leases, decisions or changes need while replicas serve', async (t) => {
  const sql = rawSql(t, await freshDatabase(t));
  await sql`create table schema_migration (version int primary key)`;
  for (const step of await readMigrations()) {
    if (step.version === lastOfOld + 1) await fill(sql);
    if (step.version > lastOfOld) t.same(await faultsOfStep(sql, step.text), [], step.name);
    await sql.unsafe(step.text).simple();
  }
});

t.test('a migration that locks too much is rejected, whatever its words', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  await fill(sql);
  const rejected: readonly [string, RegExp][] = [
    ['alter table replica add column level int', /AccessExclusiveLock on replica: leases could not/],
    ['alter table coherence_log add column note text', /AccessExclusiveLock on coherence_log: leases/],
    ['-- locks for a moment: replica\nalter table replica add column a int', /leases could not be renewed/],
    ["do $$ begin execute 'dr' || 'op table coherence_seq cascade'; end $$", /on coherence_seq/],
    ['truncate coherence_log', /on coherence_log/],
    ['lock table replica in exclusive mode', /ExclusiveLock on replica/],
    ['create index on replica (host)', /ShareLock on replica/],
    [
      'create trigger t before insert on replica for each row execute function account_check_parent()',
      /on replica/,
    ],
    ['create table note (replica text references replica (id))', /ShareRowExclusiveLock on replica/],
    ['alter table account add column limits jsonb', /AccessExclusiveLock on account, and does not say so/],
    ['create table example (account uuid references account (id))', /on account, and does not say so/],
    [
      '-- locks for a moment: api_key\nalter table account add column limits jsonb',
      /on account, and does not/,
    ],
    ['-- locks for a moment: account\ncreate index on account (name)', /builds an index on account/],
    [
      '-- locks for a moment: account\nalter table account alter name type varchar(256)',
      /writes account anew/,
    ],
    ['update replica set host = null', /changes rows of replica/],
    ['delete from coherence_log', /changes rows of coherence_log/],
  ];
  for (const [text, why] of rejected) t.match((await faultsOfStep(sql, text)).join('; '), why, text);

  const accepted = [
    'create table example (id bigint primary key, account uuid not null); create index on example (account)',
    "create or replace function coherence_position() returns bigint language sql volatile as 'select v from coherence_seq'",
    '-- locks for a moment: account\nalter table account add column limits jsonb',
    '-- locks for a moment: coherence_log\ncreate index on coherence_log (at)',
  ];
  for (const text of accepted) t.same(await faultsOfStep(sql, text), [], text);
});
