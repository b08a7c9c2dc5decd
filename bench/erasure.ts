/**
 * What the erasure of one account with a million events costs others, through the very store the gateway uses, on a
 * PostgreSQL of its own that writes through to the disk: changes and lists of other parents run all the time. Beside
 * the account, small ones are deleted, and there are as many results under an Idempotency-Key as a busy day leaves.
 * Prints the table of `docs/maintainers/scale.md`.
 *
 *     npm run bench:erasure -- [--events 1000000] [--results 200000] [--accounts 100]
 */
import { parseArgs } from 'node:util';
import { connectByUrl, type Sql } from '../src/adapters/postgres/connection/sql.ts';
import { openPostgres, type Store } from '../src/adapters/postgres/store.ts';
import type { AccountId } from '../src/domain/ids.ts';
import { createKey, createParent, createSub } from '../test/support/store.ts';
import { startPostgres } from './lib/postgres-server.ts';
import { describeMachine, machineLine } from './machine.ts';
import { ms, quantile } from './outages/figures.ts';
import { table } from './report/tables.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    /** Results under an `Idempotency-Key`, of other accounts. */
    results: { type: 'string', default: '200000' },
    /** Small accounts that are deleted at the same time. */
    accounts: { type: 'string', default: '100' },
  },
});
const [events, results, accounts] = [values.events, values.results, values.accounts].map(Number);
const beforeMs = 20_000;
/** As many rows as `src/retention/erasures.ts` erases at once. */
const most = 500;
const neighbours = 4;

/** Milliseconds of each operation, or of each batch by its step. */
type Times = Map<string, number[]>;

const server = await startPostgres(process.env['TEST_POSTGRES_BIN'] ?? '/usr/lib/postgresql/15/bin');
const sql = connectByUrl(server.url, 600_000)();
const stores = { load: open(), erasing: open() };
try {
  console.log(machineLine(describeMachine()));
  await stores.load.migrate();
  const parents = await Promise.all(
    Array.from({ length: neighbours + 1 }, () => createParent(stores.load.tenants)),
  );
  const [deleted, ...others] = parents.map(({ id }) => id);
  if (deleted === undefined) throw new Error('no account');
  await fill(sql, deleted);
  const before = await load(others, new Promise((resolve) => setTimeout(resolve, beforeMs)));
  await remove(deleted);
  for (let i = 0; i < (accounts ?? 0); i += 1)
    await remove((await createParent(stores.load.tenants, { name: 'Small' })).id);
  const began = performance.now();
  const erasing = erase(stores.erasing, sql);
  const beside = await load(others, erasing);
  const batches = await erasing;
  console.log(`\n${events} events, ${accounts} further accounts: ${seconds(performance.now() - began)}\n`);
  print('batch', batches);
  print(`operation, ${seconds(beforeMs)} before`, before);
  print('operation, beside', beside);
} finally {
  for (const store of Object.values(stores)) await store.close();
  await sql.end();
  await server.stop();
}

function open(): Store {
  return openPostgres({ url: server.url, maxConnections: 8 });
}

/** Events of the account, a tenth as many of others, and results of requests. */
async function fill(sql: Sql, account: AccountId): Promise<void> {
  const add = async (of: string, count: number, at: number): Promise<unknown> =>
    sql.unsafe(`
      insert into event (id, account_id, type, created_at, actor_kind, actor_name, address, object, previous)
      select (lpad(to_hex(${at} + i), 12, '0') || '7' || substr(gen_random_uuid()::text, 16))::uuid, ${of},
        'api_key.updated', now(), 'api_key', 'A key of a customer', '192.0.2.99',
        jsonb_build_object('id', gen_random_uuid(), 'account_id', ${of}, 'name', 'A key of a customer', 'scopes',
          array['shipments:read', 'shipments:write'], 'prefix', 'tgw_abcd', 'last4', 'wxyz', 'created_at', now(),
          'revoked_at', null, 'expires_at', null, 'limits', null),
        '{"name": "A former name"}'
      from generate_series(1, ${count}) i`);
  const atMs = Date.now() - 86_400_000;
  for (let made = 0; made < (events ?? 0); made += 50_000)
    await add(`'${account}'::uuid`, Math.min(50_000, (events ?? 0) - made), atMs + made);
  await add('gen_random_uuid()', (events ?? 0) / 10, atMs);
  await sql`
    insert into idempotency (caller_key_id, key, fingerprint, made)
    select gen_random_uuid(), sha256(i::text::bytea), sha256(i::text::bytea), to_jsonb(a)
    from account a, generate_series(1, ${(results ?? 0) / neighbours}) i where a.id <> ${account}`;
  await sql`vacuum (analyze) event, idempotency, account`;
  await sql`checkpoint`;
}

async function remove(id: AccountId): Promise<void> {
  await stores.load.tenants.setParentStatus(id, 'suspended');
  await stores.load.tenants.deleteParent(id);
}

async function erase({ erasures }: Store, sql: Sql): Promise<Times> {
  const times: Times = new Map();
  for (;;) {
    const [next] = await sql<{ step: string }[]>`
      select step from erasure where erased_at is null
      order by step = 'log', at_position is not null, deleted_at limit 1`;
    const began = performance.now();
    if ((await erasures.run({ settledMs: 0, most })) === null) return times;
    note(times, next?.step ?? 'none', performance.now() - began);
  }
}

/** Has each parent create a sub-account and a key, revoke it and list what it has, over and over until `end`. */
async function load(parents: readonly AccountId[], end: Promise<unknown>): Promise<Times> {
  const times: Times = new Map();
  const { tenants, events: log } = stores.load;
  let ended = false;
  void end.finally(() => (ended = true));
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work();
    note(times, name, performance.now() - began);
    return result;
  };
  await Promise.all(
    parents.map(async (parent) => {
      while (!ended) {
        const { value: sub } = await timed('create', () => createSub(tenants, parent));
        const { key } = await timed('mint', () => createKey(tenants, sub.id));
        await timed('revoke', () => tenants.revokeKey(sub.id, key.id));
        await timed('list events', () => log.list({ account: parent }, { limit: 50 }));
      }
    }),
  );
  return times;
}

function note(times: Times, name: string, took: number): void {
  times.set(name, [...(times.get(name) ?? []), took]);
}

function print(what: string, times: Times): void {
  const rows = [...times].map(([name, each]) => [
    name,
    String(each.length),
    ms(quantile(each, 0.5)),
    ms(quantile(each, 0.99)),
    ms(quantile(each, 1)),
  ]);
  console.log(`${table([what, 'how many', 'median', '99 %', 'slowest'], rows)}\n`);
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
