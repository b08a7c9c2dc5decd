// class: app
/** Changes of rows by SQL: every fact that a decision may ask for is in the log, whichever statement changes it. */
import t from 'tap';
import type { Store } from '../../../src/adapters/postgres/store.ts';
import { factKey, type Asked } from '../../../src/ports/facts.ts';
import { newAccountId } from '../../support/drafts.ts';
import { loggedBy } from '../../support/logged.ts';
import type { Scope } from '../../support/servers.ts';
import { createKey, createParent, createSub, freshStore } from '../../support/store.ts';

/** Facts that a change has logged, each with whether open streams that depend on it end. */
type Logged = Readonly<Record<string, boolean>>;

/** A parent with two active sub-accounts, of which one has a name, limits and a key with an expiry. */
async function rows(tenants: Store['tenants']) {
  const parent = (await createParent(tenants)).id;
  const other = (await createSub(tenants, parent)).value.id;
  const limits = { requestsPerSecond: 1, burst: 1, requestsPerMonth: 1 };
  const sub = (await createSub(tenants, parent, { externalId: 'name', limits })).value.id;
  const expiresAt = new Date(Date.now() + 3_600_000);
  const { key, digest } = await createKey(tenants, sub, { expiresAt, limits });
  return { parent, sub, other, key: key.id, k: factKey.key(digest) };
}

async function setUp(t: Scope) {
  const { url, store, sql } = await freshStore(t);
  const logged = (text: string): Promise<Logged> => factsLoggedBy(store, () => sql.unsafe(text));
  return { url, store, sql, logged, ...(await rows(store.tenants)) };
}

async function factsLoggedBy({ log }: Store, change: () => PromiseLike<unknown>): Promise<Logged> {
  const { entries } = await loggedBy(log, change);
  return Object.fromEntries(entries.map(({ key, revoked }) => [key, revoked]));
}

/** Another value for each column of a sub-account and of its key. A new column belongs here. */
const others: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  account: {
    name: "'other'",
    external_id: "'other'",
    status: "'deactivated', deactivated_at = now()",
    metadata: `'{"a": "b"}'`,
    created_at: "created_at - interval '1 day'",
    updated_at: "updated_at + interval '1 day'",
    requests_per_second: '5',
    burst: '7',
    requests_per_minute: '6',
    requests_per_day: '8',
    requests_per_month: '9',
    units_per_month: '9',
    deleted_at: "now(), status = 'deactivated', deactivated_at = now(), external_id = null",
  },
  api_key: {
    id: "'018f0000-0000-7000-8000-000000000002'",
    account_id: '(select account_id from api_key where id = OTHER)',
    name: "'other'",
    scopes: "'{a:b}'",
    digest: "sha256('other')",
    client_secret_digest: "sha256('other')",
    prefix: "'other'",
    last4: "'four'",
    imported_under: "'other'",
    created_at: "created_at - interval '1 day'",
    expires_at: 'null',
    revoked_at: 'now()',
    last_used_at: 'now()',
    rotated_from: "'018f0000-0000-7000-8000-000000000003'",
    requests_per_second: '5',
    burst: '7',
    requests_per_minute: '6',
    limit_id: "'018f0000-0000-7000-8000-000000000004'",
  },
};
/** A row keeps these, follows others by them, or has them as a parent alone. */
const kept: Readonly<Record<string, readonly string[]>> = {
  account: [
    'id',
    'parent_id',
    'deactivated_at',
    'sub_accounts',
    'active_sub_accounts',
    'max_sub_accounts',
    'max_api_keys',
    'plan',
    'unlimited',
  ],
  api_key: [],
};

for (const [table, values] of Object.entries(others)) {
  t.test(
    `each column of ${table} that a decision looks at is logged when it changes, and no other`,
    async (t) => {
      const { store, sql } = await freshStore(t);
      const columns = await sql<{ name: string }[]>`select column_name as name from information_schema.columns
      where table_schema = current_schema() and table_name = ${table}`;
      t.same(columns.map(({ name }) => name).sort(), [...Object.keys(values), ...(kept[table] ?? [])].sort());

      for (const [column, value] of Object.entries(values)) {
        const { parent, sub, key, k } = await rows(store.tenants);
        const elsewhere = await createKey(store.tenants, parent);
        const facts = async (): Promise<Readonly<Record<string, string>>> => {
          const asked: readonly Asked[] = [
            [k],
            [factKey.externalId(parent, 'name'), factKey.externalId(parent, 'other')],
            [factKey.account(sub), factKey.activeSubAccounts(parent)],
          ];
          const readings = await Promise.all(asked.map((one) => store.facts.readFacts(one)));
          const all = readings.flatMap((reading) => [...reading.facts]);
          return Object.fromEntries(all.map(([name, fact]) => [name, JSON.stringify(fact)]));
        };
        const before = await facts();
        const set = `${column} = ${value.replace('OTHER', `'${elsewhere.key.id}'`)}`;
        const row = table === 'account' ? sub : key;
        const logged = await factsLoggedBy(store, () =>
          sql.unsafe(`update ${table} set ${set} where id = '${row}'`),
        );
        const after = await facts();
        const changed = Object.keys(after).filter(
          (name) => !name.startsWith('n:') && before[name] !== after[name],
        );
        t.same(
          changed.filter((name) => !(name in logged)),
          [],
          `${column}: what changed is logged`,
        );
        if (changed.length === 0) t.same(logged, {}, `${column}: nothing is logged`);
      }
    },
  );
}

t.test(
  'plans and what parents have of them are logged: a plan once, and each parent that changes',
  async (t) => {
    const { sql, logged, parent, sub } = await setUp(t);
    const gold = factKey.plan('gold');
    t.same(await logged(`insert into plan (name, requests_per_second) values ('gold', 5)`), {});
    for (const change of [`plan = 'gold'`, `unlimited = '{requests_per_day}'`])
      t.same(await logged(`update account set ${change} where id = '${parent}'`), {
        [factKey.account(parent)]: false,
      });
    for (const [column, value] of Object.entries({
      requests_per_second: 6,
      burst: 9,
      requests_per_minute: 7,
      requests_per_month: 8,
      units_per_month: 8,
    })) {
      const quota = { requests_per_month: 'q:gold:month', units_per_month: 'q:gold:month:units' }[column];
      const also = quota === undefined ? {} : { [quota]: false };
      t.same(await logged(`update plan set ${column} = ${value}`), { [gold]: false, ...also }, column);
    }
    t.same(await logged(`update plan set max_api_keys = 8, max_sub_accounts = 8`), {});
    await t.rejects(sql`delete from plan`, { code: '23503' }, 'in use');
    await t.rejects(sql`update account set plan = 'none' where id = ${parent}`, { code: '23503' });
    await t.rejects(sql`update account set plan = 'gold' where id = ${sub}`, { code: '23514' });
    await sql`update account set plan = null where id = ${parent}`;
    t.same(await logged('delete from plan'), { [gold]: false });
  },
);

t.test('the end of a right ends the streams that depend on it', async (t) => {
  const { logged, sub, parent, key, k } = await setUp(t);
  t.same(await logged(`update api_key set expires_at = now() where id = '${key}'`), { [k]: false });
  t.same(await logged(`update api_key set revoked_at = now() where id = '${key}'`), { [k]: true });
  t.same(await logged(`update api_key set revoked_at = null where id = '${key}'`), { [k]: false });
  t.same(await logged(`update account set status = 'suspended' where id = '${parent}'`), {
    [factKey.account(parent)]: true,
  });
  t.same(await logged(`update account set status = 'active' where id = '${parent}'`), {
    [factKey.account(parent)]: false,
  });
  t.same(await logged(`delete from api_key where id = '${key}'`), { [k]: true });
  t.same(await logged(`delete from account where id = '${sub}'`), {
    [factKey.account(sub)]: true,
    [factKey.externalId(parent, 'name')]: false,
  });
});

t.test('a key that appears is logged, since its holder may have been told that there is none', async (t) => {
  const { store, sql, key, k } = await setUp(t);
  await sql`create table kept as select * from api_key where id = ${key}`;
  await sql`delete from api_key where id = ${key}`;
  t.same(await factsLoggedBy(store, () => sql`insert into api_key select * from kept`), { [k]: false });
});

t.test('the counts of a parent follow its sub-accounts', async (t) => {
  const { store, sql, parent, sub, other } = await setUp(t);
  const counts = async (): Promise<readonly number[]> => {
    const [row] = await sql<[{ every: number; active: number }]>`
      select sub_accounts as every, active_sub_accounts as active from account where id = ${parent}`;
    return [row.every, row.active];
  };
  const deactivate = `update account set status = 'deactivated', deactivated_at = now() where parent_id = '${parent}'`;
  t.same(await factsLoggedBy(store, () => sql.unsafe(deactivate)), {
    [factKey.account(sub)]: true,
    [factKey.account(other)]: true,
    [factKey.activeSubAccounts(parent)]: false,
  });
  t.same(await counts(), [2, 0]);
  t.same(
    await factsLoggedBy(
      store,
      () => sql`insert into account (id, parent_id, name, status)
      values (${newAccountId()}, ${parent}, 'By hand', 'active')`,
    ),
    { [factKey.activeSubAccounts(parent)]: false },
  );
  t.same(await counts(), [3, 1]);
  await sql`delete from account where id = ${other}`;
  t.same(await counts(), [2, 1]);
});

t.test('a transaction takes one position for all that it changes, and none for nothing', async (t) => {
  const { store, sql, parent, sub, key } = await setUp(t);
  const ids = Array.from({ length: 1_500 }, () => newAccountId());
  await sql`insert into account (id, parent_id, name, status)
    select id::uuid, ${parent}, 'Many', 'active' from jsonb_array_elements_text(${sql.json(ids)}) id`;
  const before = (await store.log.replicas()).seq;
  await sql`do $$ declare one uuid; begin
    for one in select id from account where name = 'Many' loop
      update account set requests_per_second = 3 where id = one;
    end loop;
  end $$`;
  const { entries, seq } = await store.log.readAfter(before, 10_000);
  t.equal(seq, before + 1);
  t.same(new Set(entries.map((entry) => entry.key)), new Set(ids.map((id) => factKey.account(id))));

  t.same(
    await factsLoggedBy(store, () =>
      sql.begin(async (tx) => {
        await tx`update api_key set revoked_at = revoked_at, last_used_at = now() where id = ${key}`;
        await tx`update account set name = name, updated_at = now() where id = ${sub}`;
        await tx`update account set sub_accounts = sub_accounts + 1 where id = ${parent}`;
      }),
    ),
    {},
  );
  t.equal((await store.log.replicas()).seq, seq);
});

t.test('what was taken back is not logged, and what is left is', async (t) => {
  const { store, sql, sub, key, k } = await setUp(t);
  const change = (): Promise<unknown> =>
    sql.begin(async (tx) => {
      await tx`update api_key set revoked_at = now() where id = ${key}`;
      const undo = new Error('undo');
      await t.rejects(
        tx.savepoint(async (sp) => {
          await sp`update account set requests_per_month = 3 where id = ${sub}`;
          throw undo;
        }),
        undo,
      );
    });
  t.same(await factsLoggedBy(store, change), { [k]: true });
});

t.test('a transaction that would not see what was committed meanwhile takes no position', async (t) => {
  const { store, sql, key } = await setUp(t);
  const { seq } = await store.log.replicas();
  for (const level of ['repeatable read', 'serializable'])
    await t.rejects(
      sql.begin(
        `isolation level ${level}`,
        (tx) => tx`update api_key set revoked_at = now() where id = ${key}`,
      ),
      { code: 'TG003', message: new RegExp(level) },
    );
  t.equal((await store.log.replicas()).seq, seq);
  t.match(await sql`select revoked_at from api_key where id = ${key}`, [{ revoked_at: null }]);
});

t.test('a position stands for one change', async (t) => {
  const { sql } = await setUp(t);
  await t.rejects(sql`insert into coherence_taken (seq) select seq from coherence_now`, { code: '23505' });
});
