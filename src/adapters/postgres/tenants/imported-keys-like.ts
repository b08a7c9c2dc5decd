import type { Runner } from '../connection/pool.ts';

/** Implements `Store.importedKeysLike`. The database keeps only the start of a key, for display. */
export async function importedKeysLike(db: Runner, prefix: string): Promise<number> {
  const start = `${prefix}_`;
  const [row] = await db.run(
    (sql) => sql<{ readonly keys: number }[]>`
      select count(*)::int as keys from api_key k
      where k.client_secret_digest is null and k.imported_under is distinct from ${prefix}
        and (starts_with(k.prefix, ${start}) or starts_with(${start}, k.prefix))
        and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
  );
  return row?.keys ?? 0;
}
