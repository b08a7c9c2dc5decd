import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { Random } from '../../test/support/coherence/random.ts';
import { Tenants, type Parent } from '../../test/e2e/faults/support/tenants.ts';
import { uuidV7 } from '../../src/domain/ids.ts';
import { unknownKey } from '../lib/tenants.ts';
import type { Gateway, OutageEnvironment } from './environment.ts';

/** Many keys of one sub-account. */
export interface KeyRing {
  readonly parent: Parent;
  readonly sub: string;
  readonly keys: readonly { readonly id: string; readonly text: string }[];
}

const atOnce = 10_000;

/** Makes a parent with a sub-account through the API, and keys straight in the database: that many take seconds. */
export async function makeKeys(
  { postgres: { url } }: OutageEnvironment,
  gateway: Gateway,
  count: number,
): Promise<KeyRing> {
  const tenants = new Tenants([gateway], new Random(1), () => false);
  const parent = await tenants.createParent();
  const sub = await tenants.createSubAccount(parent);
  const keys = Array.from({ length: count }, () => ({
    id: uuidV7(Date.now(), randomBytes(10)),
    text: unknownKey(),
  }));
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  for (let i = 0; i < count; i += atOnce) {
    const batch = keys.slice(i, i + atOnce);
    await sql`
      insert into api_key (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4)
      select id, ${sub}, 'bench', '{}', sha256(convert_to(text, 'UTF8')), sha256(convert_to(id::text, 'UTF8')),
        left(text, 8), right(text, 4)
      from unnest(${batch.map(({ id }) => id)}::uuid[], ${batch.map(({ text }) => text)}::text[]) as made (id, text)`;
  }
  await sql.end();
  return { parent, sub, keys };
}

/** Well-formed keys that do not exist: only a look-up can tell. */
export function unknownKeys(count: number): string[] {
  return Array.from({ length: count }, unknownKey);
}

/** Made-up keys of another format than ours, which have no checksum. */
export function foreignKeys(count: number): string[] {
  return Array.from({ length: count }, () => `sk_live_${randomBytes(16).toString('hex')}`);
}

/** Keys with one character mistyped: the checksum tells. */
export function mistypedKeys(count: number): string[] {
  return unknownKeys(count).map((key) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0'));
}
