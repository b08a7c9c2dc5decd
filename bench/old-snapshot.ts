/**
 * What leases, the barrier and revokes cost while a snapshot stays open, after as many renewals and confirmations as
 * replicas make in that time: what those leave behind cannot be cleared away then. Through the very store the gateway uses,
 * on a PostgreSQL of its own. Prints the table of `docs/maintainers/coherence.md`.
 *
 *     npm run bench:old-snapshot -- [--replicas 3,50] [--minutes 10,60] [--changes 6]
 */
import { parseArgs } from 'node:util';
import type { Sql } from '../src/adapters/postgres/connection/sql.ts';
import { openPostgres, type Store } from '../src/adapters/postgres/store.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { createParent, rawSql } from '../test/support/store.ts';
import { describeMachine, machineLine } from './machine.ts';
import { ms, quantile } from './outages/figures.ts';
import { makeKeys } from './replicas/keys.ts';
import { table } from './report/tables.ts';

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '3,50' },
    minutes: { type: 'string', default: '10,60' },
    /** Each replica confirms each of them. */
    changes: { type: 'string', default: '6' },
  },
});
const numbers = (list: string): number[] => list.split(',').map(Number);
const changesAMinute = Number(values.changes);
/** T of every replica, as it is by default: it renews four times in that. */
const leaseMs = 3_000;
const renewalsAMinute = 60_000 / (leaseMs / 4);
const rounds = 100;

const rows: string[][] = [];
console.log(machineLine(describeMachine()));
for (const replicas of numbers(values.replicas)) await measureFleet(replicas);
console.log(
  `\n${table(['replicas', 'snapshot held for', 'renewal', 'confirmation', 'reading the replicas', 'revoke'], rows)}`,
);
process.exit();

async function measureFleet(replicas: number): Promise<void> {
  const ends: (() => unknown)[] = [];
  const scope = { teardown: (end: () => unknown) => ends.unshift(end) };
  const { url } = await startPostgres(scope);
  const store = openPostgres({ url, maxConnections: 4 });
  ends.unshift(() => store.close());
  await store.migrate();
  const ids = Array.from({ length: replicas }, (_, i) => `replica ${i}`);
  for (const id of ids) await store.log.register({ id, nonce: 'first', leaseMs, streamsMs: 0 });
  rows.push([String(replicas), 'not at all', ...(await measure(store, ids))]);

  const sql = rawSql(scope, url);
  await sql`set statement_timeout = 0`;
  const held = rawSql(scope, url);
  await held`set idle_in_transaction_session_timeout = 0`;
  await held.unsafe('begin isolation level repeatable read; select').simple();
  let minutes = 0;
  for (const until of numbers(values.minutes)) {
    await passTime(sql, until - minutes);
    minutes = until;
    rows.push([String(replicas), `${until} min`, ...(await measure(store, ids))]);
    console.log(rows.at(-1)?.join('  '));
  }
  const [{ holds }] = await sql<[{ holds: boolean }]>`
    select exists (select from pg_stat_activity where state = 'idle in transaction' and backend_xmin is not null) as holds`;
  if (!holds) throw new Error('the snapshot was lost');
  for (const end of ends) await end();
}

/** What all replicas do in that time, each a transaction of its own, as fast as it can be done. */
async function passTime(sql: Sql, minutes: number): Promise<void> {
  const each = Math.round(renewalsAMinute / changesAMinute);
  await sql
    .unsafe(
      `do $$ declare one record; begin
        for i in 1 .. ${minutes * renewalsAMinute} loop
          for one in select r.id from replica r loop
            perform replica_renew(one.id, i::text, ${leaseMs}, 0, '1', 'host', false, null, 1);
            if i % ${each} = 0 then perform replica_ack(one.id, i, 0); end if;
            commit;
          end loop;
        end loop;
      end $$`,
    )
    .simple();
}

/** Of each operation what the fastest tenth took at most: other work of the machine is in the slower ones. */
async function measure(store: Store, ids: readonly string[]): Promise<string[]> {
  const { seq } = await store.log.replicas();
  const parent = (await createParent(store.tenants)).id;
  const keys = await makeKeys(store, parent, rounds);
  const operations: ((round: number, id: string) => Promise<unknown>)[] = [
    (round, id) => store.log.register({ id, nonce: `measured ${round}`, leaseMs, streamsMs: 0 }),
    (round, id) => store.log.ack(id, seq + 1_000_000 + round, 0),
    () => store.log.replicas(),
    async (round) => {
      const one = keys[round];
      if (one !== undefined) await store.tenants.revokeKey(one.account, one.key);
    },
  ];
  const times = operations.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [i, operation] of operations.entries()) {
      const began = performance.now();
      await operation(round, ids[round % ids.length] ?? '');
      times[i]?.push(performance.now() - began);
    }
  return times.map((each) => ms(quantile(each, 0.1)));
}
