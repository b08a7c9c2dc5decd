import type { KeyDigest } from '../../../domain/api-key.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import type { Runner } from '../connection/pool.ts';

/** From the id of a key, which people have, to its digest, by which decisions know it. */
export function keyDigests(db: Runner): Pick<TenantStore, 'keyDigest'> {
  return {
    async keyDigest(id) {
      const [row] = await db.run(
        (sql) => sql<{ readonly digest: Buffer }[]>`select digest from api_key where id = ${id}`,
      );
      return row === undefined ? null : (row.digest.toString('base64url') as KeyDigest);
    },
  };
}
