import type { AccountId, KeyId } from '../../../domain/ids.ts';
import type { WritesByDefault } from '../../../ports/usage.ts';
import type { Runner } from '../connection/pool.ts';

interface Line {
  readonly countedFrom: Date;
  readonly keyId: KeyId | null;
  readonly name: string;
  readonly requests: number;
  readonly lastAt: Date;
}

/** See {@link UsageStore.writesByDefault}. */
export async function writesByDefault(
  db: Runner,
  parent: AccountId,
  sinceMs: number,
): Promise<WritesByDefault> {
  const day = new Date(sinceMs).toISOString().slice(0, 10);
  // `countedFrom` is needed even if there were no writes by default, so the statement always returns a line. That way,
  // `countedFrom` and the writes come from the same snapshot.
  const lines = await db.run(
    (sql) => sql<[Line, ...Line[]]>`
      select f.counted_from as "countedFrom", k.id as "keyId", k.name, w.requests, w.last_at as "lastAt"
      from write_by_default_from f
      left join (
        select d.key_id, sum(d.requests)::double precision as requests, max(d.last_at) as last_at
        from write_by_default d where d.account_id = ${parent} and d.day >= ${day}::date group by d.key_id
      ) w on true
      left join api_key k on k.id = w.key_id and k.account_id = ${parent}
      order by w.last_at desc, k.id`,
    parent,
  );
  const keys = lines.flatMap(({ keyId, name, requests, lastAt }) =>
    keyId === null ? [] : [{ keyId, name, requests, lastAtMs: lastAt.getTime() }],
  );
  return { countedFromMs: lines[0].countedFrom.getTime(), keys };
}
