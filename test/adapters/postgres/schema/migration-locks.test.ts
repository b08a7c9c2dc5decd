// class: app
/** What a step may do while replicas serve; docs/contributing.md says it in words. */
import t from 'tap';
import { readSchemaFiles } from '../../../../src/adapters/postgres/schema/files.ts';
import { migrate } from '../../../../src/adapters/postgres/schema/migrate.ts';
import { faultsOfStep, fill } from '../../../support/migration-locks.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { migrated, over, rawSql } from '../../../support/store.ts';

t.test('neither a step nor the functions lock what leases, decisions or changes need', async (t) => {
  const sql = rawSql(t, await freshDatabase(t));
  const files = await readSchemaFiles();
  await migrate(over(sql), {}, over(sql), { ...files, steps: [] });
  await fill(sql);
  for (const step of files.steps) {
    t.same(await faultsOfStep(sql, step.text), [], step.name);
    await sql.unsafe(step.text).simple();
  }
  t.same(await faultsOfStep(sql, files.functions.text), []);
});

t.test('a step that locks too much is rejected, whatever its words', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  await fill(sql);
  const rejected: readonly [string, RegExp][] = [
    ['alter table replica add column note int', /AccessExclusiveLock on replica: leases could not/],
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
    "create or replace function coherence_position() returns bigint language sql volatile as 'select seq from coherence_now'",
    '-- locks for a moment: account\nalter table account add column limits jsonb',
    '-- locks for a moment: coherence_log\ncreate index on coherence_log (at)',
  ];
  for (const text of accepted) t.same(await faultsOfStep(sql, text), [], text);
});
