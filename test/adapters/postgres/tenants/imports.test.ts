// class: app
/** Imports whose statement is cut off, and sent again while the first one may still be at work. */
import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { openPostgres } from '../../../../src/adapters/postgres/store.ts';
import type { KeyDigest } from '../../../../src/domain/api-key.ts';
import { ProblemError } from '../../../../src/domain/problem.ts';
import { newKeyId } from '../../../support/drafts.ts';
import { createParent, freshStore, rawSql } from '../../../support/store.ts';

t.test('rows whose call was cut off are sent again until they are there, each once', async (t) => {
  const { url, store } = await freshStore(t);
  const parents = 200;
  for (let i = 0; i < parents; i++) await createParent(store.tenants, { externalId: `p${i}` });
  const rows = Array.from({ length: 1_000 }, (_, i) => ({
    ...{ id: newKeyId(), name: 'K', scopes: [], prefix: null, last4: null, expiresAt: null },
    ...{ subExternalId: null, parentExternalId: `p${i % parents}` },
    digest: createHash('sha256').update(randomBytes(16)).digest('base64url') as KeyDigest,
  }));
  const codes: string[] = [];
  for (const queryMs of [20, 50, 100, 200, 400, 1_000, 5_000, 20_000]) {
    const hasty = openPostgres({ url, maxConnections: 4, deadlines: { queryMs } });
    const attempts = [rows, rows.slice(500), rows.slice(0, 500)].map((list) =>
      hasty.tenants.importKeyRows(list, 1_000).then(
        () => 'done',
        (error: unknown) => {
          if (error instanceof ProblemError && error.problem.code === 'unavailable') return 'unavailable';
          throw error;
        },
      ),
    );
    codes.push(...(await Promise.all(attempts)));
    await hasty.close();
  }
  t.ok(codes.includes('unavailable'), 'some are cut off');
  t.same(codes.slice(-3), ['done', 'done', 'done']);
  const [count] = await rawSql(
    t,
    url,
  )`select count(*)::int as keys, count(distinct digest)::int as digests from api_key`;
  t.same(count, { keys: 1_000, digests: 1_000 });
});

t.test('an import counts the keys of an account once, however many it brings and there are', async (t) => {
  const { url, store } = await freshStore(t);
  const { id } = await createParent(store.tenants);
  const sql = rawSql(t, url);
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
