// class: app
/** Events in PostgreSQL: what only several connections, or SQL behind the store's back, can show. */
import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { eventStore } from '../../../src/adapters/postgres/events/event-store.ts';
import type { TenantStore } from '../../../src/ports/tenant-store.ts';
import { newAccountId, newKeyId } from '../../support/drafts.ts';
import {
  createKey,
  createParent,
  createSub,
  freshStore,
  over,
  rawSql,
  storeAt,
} from '../../support/store.ts';

t.test(
  'of one parent, what is committed later has a greater id, whatever is changed by how many',
  async (t) => {
    const { store, url } = await freshStore(t, { maxConnections: 12 });
    const second = storeAt(t, url, { maxConnections: 12 });
    const { id } = await createParent(store.tenants);
    const subs = await Promise.all(
      Array.from({ length: 12 }, async () => (await createSub(store.tenants, id)).value.id),
    );

    /** Changes that lock rows of their own, so that nothing but the order of events makes them wait. */
    const change = async (tenants: TenantStore, i: number): Promise<void> => {
      const sub = subs[i % subs.length] ?? id;
      const { key } = await createKey(tenants, sub);
      await tenants.revokeKey(sub, key.id);
      await tenants.updateSubAccount(id, sub, { name: `Name ${i}` });
    };
    let busy = true;
    const changes = Promise.all(
      subs.map(async (_, n) => {
        for (let i = 0; i < 20; i += 1)
          await change(n % 2 === 0 ? store.tenants : second.tenants, n + i * subs.length);
      }),
    ).finally(() => (busy = false));

    const sql = rawSql(t, url);
    const seen = new Set<string>();
    let newest = '';
    let late = 0;
    while (busy) {
      const rows = await sql<{ id: string }[]>`select id from event where account_id = ${id} order by id`;
      for (const row of rows) if (!seen.has(row.id) && row.id <= newest) late += 1;
      for (const row of rows) seen.add(row.id);
      newest = rows.at(-1)?.id ?? newest;
    }
    await changes;
    const [{ count }] = await sql<
      [{ count: number }]
    >`select count(*)::int from event where account_id = ${id}`;
    t.equal(count, 1 + subs.length + 3 * 20 * subs.length);
    t.equal(late, 0, 'no event appears behind one that a reader has seen');
  },
);

t.test('a clock that was set back does not turn the order of events round', async (t) => {
  const { store, sql } = await freshStore(t);
  const { id } = await createParent(store.tenants);
  const later = new Date(Date.now() + 3_600_000);
  await sql`insert into event (id, account_id, type, created_at, actor_kind, object)
    select overlay(e.id::text placing left(event_floor(${later})::text, 13) from 1)::uuid, e.account_id, e.type, ${later},
      e.actor_kind, e.object from event e where e.account_id = ${id}`;
  await store.tenants.setParentStatus(id, 'suspended');
  await store.tenants.setParentStatus(id, 'active');
  const { rows } = await store.events.list({ account: id }, { limit: 10 });
  t.match(rows, [
    { type: 'account.resumed' },
    { type: 'account.suspended' },
    {},
    { type: 'account.created' },
  ]);
  t.ok(rows.slice(0, 3).every(({ createdAt }) => createdAt >= later));
});

t.test('events cannot be changed, and are deleted by retention alone', async (t) => {
  const { store, sql } = await freshStore(t);
  const { id } = await createParent(store.tenants);
  for (const statement of [
    sql`update event set actor_name = 'mallory'`,
    sql`delete from event`,
    sql`delete from event where account_id = ${randomUUID()}`,
    sql`truncate event`,
  ])
    await t.rejects(statement, { code: '23000', constraint_name: 'event_append_only' });
  t.match(await store.events.prune({ nowMs: Date.now(), days: 1, most: 10 }), { deleted: 0 });
  await sql`insert into event (id, account_id, type, created_at, actor_kind, object)
    select event_floor(at), ${id}, 'account.updated', at, 'system', '{}'
    from generate_series(now() - interval '50 hours', now() - interval '1 hour', interval '1 hour') at`;
  t.match(await store.events.prune({ nowMs: Date.now(), days: 1, most: 20 }), { deleted: 20 });
  t.match(await store.events.prune({ nowMs: Date.now(), days: 1, most: 20 }), { deleted: 7 });
  t.match(await store.events.prune({ nowMs: Date.now(), days: 1, most: 20 }), { deleted: 0 });
  await t.rejects(sql`delete from event`, { code: '23000' });
});

t.test('changes by hand-written SQL have events, of the system and without digests', async (t) => {
  const { store, sql } = await freshStore(t);
  const [id, sub, key] = [newAccountId(), newAccountId(), newKeyId()];
  await sql`insert into account (id, name, status, sub_accounts, active_sub_accounts) values (${id}, 'P', 'active', 0, 0)`;
  await sql`select account_create_sub('{}', ${id}, ${sub}, 'Sub', null, '{}', 10)`;
  await sql`select account_set_status('{}', ${id}, ${sub}, 'deactivated')`;
  const [digest, secret] = [randomBytes(32), randomBytes(32)];
  await sql`insert into api_key (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4)
    values (${key}, ${sub}, 'Key', '{}', ${digest}, ${secret}, 'tgw_abcd', 'wxyz')`;
  await sql`select api_key_revoke('{}', ${sub}, ${key})`;
  await sql`update api_key set last_used_at = now()`;
  await sql`update account set name = 'By hand' where id = ${sub}`;
  const { rows } = await store.events.list({ account: id }, { limit: 10 });
  t.same(
    rows.toReversed().map(({ type }) => type),
    [
      'account.created',
      'sub_account.created',
      'sub_account.deactivated',
      'api_key.created',
      'api_key.revoked',
      'sub_account.updated',
    ],
  );
  t.ok(rows.every(({ actor, requestId }) => actor.kind === 'system' && requestId === null));
  const [{ text }] = await sql<[{ text: string }]>`select string_agg(e::text, ' ') as text from event e`;
  t.notMatch(text, /digest/);
  for (const form of ['hex', 'base64', 'base64url'] as const)
    for (const bytes of [digest, secret]) t.notOk(text.includes(bytes.toString(form)), form);
});

t.test('a list of events of one type reads no others, however many there are', async (t) => {
  const { store, sql } = await freshStore(t);
  const parent = (await createParent(store.tenants)).id;
  const sub = (await createSub(store.tenants, parent)).value.id;
  await sql`insert into event (id, account_id, sub_account_id, type, created_at, actor_kind, object)
    select event_floor(now() - n * interval '1 second'), ${parent}, ${sub}, 'sub_account.updated', now(), 'system', '{}'
    from generate_series(1, 50000) n`;
  await sql`analyze event`;
  const events = eventStore(over(sql), over(sql), over(sql));
  /** Rows that this connection has read of the table and of its indexes. */
  const read = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`;
    await sql`select pg_stat_clear_snapshot()`;
    const [row] = await sql<[{ n: number }]>`
      select (t.seq_tup_read + t.idx_tup_fetch + (select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relname = 'event'))::int as n
      from pg_stat_user_tables t where t.relname = 'event'`;
    return row.n;
  };
  for (const filter of [{}, { account: parent }, { subAccount: sub }, { account: parent, subAccount: sub }])
    for (const type of ['plan.deleted', 'sub_account.created', undefined] as const) {
      const before = await read();
      const { rows } = await events.list({ ...filter, ...(type && { type }) }, { limit: 10 });
      t.equal(
        rows.length,
        type === undefined ? 10 : Number(type !== 'plan.deleted'),
        `${Object.keys(filter).join(' ')} ${type}`,
      );
      const looked = (await read()) - before;
      t.ok(looked < 100, `${looked} rows`);
    }
});
