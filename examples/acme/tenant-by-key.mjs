import { createHash } from 'node:crypto';

/** Before: who calls is who has the key in `X-API-Key`. */
export async function tenantByKey(sql, { 'x-api-key': key = '' }) {
  const [found] =
    await sql`select tenant_id from api_key where sha256 = ${createHash('sha256').update(key).digest()}`;
  return found?.tenant_id;
}
