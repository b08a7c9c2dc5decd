// class: app
/** What imports cost. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { newKeyId } from '../../../support/drafts.ts';
import { createParent, freshStore } from '../../../support/store.ts';

t.test('an import counts the keys of an account once, however many it brings and there are', async (t) => {
  const { store, sql } = await freshStore(t);
  const { id } = await createParent(store.tenants);
  await sql`insert into api_key (id, account_id, name, scopes, digest)
    select gen_random_uuid(), ${id}, 'There', '{}', sha256(n::text::bytea) from generate_series(1, 20000) n`;
  const keys = Array.from({ length: 1_000 }, () => ({
    ...{ id: newKeyId(), owner: id, name: 'K', scopes: [] },
    digest: `\\x${randomBytes(32).toString('hex')}`,
  }));
  const counted = await sql.begin(async (tx) => {
    await tx`set local track_functions = 'all'`;
    const [{ outcome }] = await tx<[{ outcome: string }]>`
      select outcome from api_key_import('{}', ${id}, ${tx.json(keys)}, 1000000)`;
    t.equal(outcome, 'done');
    return tx<[{ calls: number }]>`
      select calls::int from pg_stat_xact_user_functions where funcname = 'api_key_count'`;
  });
  t.same([...counted], [{ calls: 1 }]);
});
