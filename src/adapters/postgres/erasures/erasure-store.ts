import type { Erasure, ErasureStore } from '../../../ports/erasures.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql } from '../connection/sql.ts';

const dayMs = 86_400_000;

/**
 * Erasures in PostgreSQL; the functions are in `schema/functions/erasure/`.
 *
 * @param background runs statements that no request waits for
 */
export function erasureStore(db: Runner, background: Runner): ErasureStore {
  return {
    async get(id) {
      const [row] = await db.run(
        (sql) => sql<Erasure[]>`
          select ${selection(sql)} from erasure
          where account_id in (${id}, (select parent_id from account where id = ${id}))
          order by account_id <> ${id} limit 1`,
      );
      return row ?? null;
    },

    async run({ settledMs, most }) {
      const [row] = await background.run(
        (sql) => sql<Erasure[]>`
          select ${selection(sql)} from erasure_run(${settledMs} * interval '1 ms', ${most})
          where account_id is not null`,
      );
      return row ?? null;
    },

    async eraseAddresses({ nowMs, days, most }) {
      const [{ looked }] = await background.run(
        (sql) => sql<[{ readonly looked: number }]>`
          select event_erase_addresses(${new Date(nowMs - days * dayMs)}, ${days}, ${most}) as looked`,
      );
      return looked;
    },
  };
}

/** Returns the columns of `erasure`, as the members of {@link Erasure}. */
function selection(sql: Sql) {
  return sql`
    account_id as "accountId", parent_id as "parentId", deleted_at as "deletedAt", erased_at as "erasedAt", accounts,
    api_keys as "apiKeys", events, idempotency_records as "idempotencyRecords"`;
}
