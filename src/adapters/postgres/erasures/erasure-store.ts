import type { AccountId } from '../../../domain/ids.ts';
import type { Erasure, ErasureStore } from '../../../ports/erasures.ts';
import type { Runner } from '../connection/pool.ts';

/** A row of `erasure`. */
interface ErasureRow {
  readonly account_id: AccountId;
  readonly parent_id: AccountId | null;
  readonly deleted_at: Date;
  readonly erased_at: Date | null;
  readonly accounts: number;
  readonly api_keys: number;
  readonly events: number;
  readonly idempotency_records: number;
}

const columns = [
  'account_id',
  'parent_id',
  'deleted_at',
  'erased_at',
  'accounts',
  'api_keys',
  'events',
  'idempotency_records',
] as const satisfies (keyof ErasureRow)[];

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
        (sql) => sql<ErasureRow[]>`
          select ${sql(columns)} from erasure
          where account_id in (${id}, (select parent_id from account where id = ${id}))
          order by account_id <> ${id} limit 1`,
      );
      return row ? toErasure(row) : null;
    },

    async run({ settledMs, most }) {
      const [row] = await background.run(
        (sql) => sql<ErasureRow[]>`
          select ${sql(columns)} from erasure_run(${settledMs} * interval '1 ms', ${most})
          where account_id is not null`,
      );
      return row ? toErasure(row) : null;
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

function toErasure(row: ErasureRow): Erasure {
  return {
    accountId: row.account_id,
    parentId: row.parent_id,
    deletedAt: row.deleted_at,
    erasedAt: row.erased_at,
    accounts: row.accounts,
    apiKeys: row.api_keys,
    events: row.events,
    idempotencyRecords: row.idempotency_records,
  };
}
