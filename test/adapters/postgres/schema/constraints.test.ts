// class: app
import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { externalIdPattern } from '../../../../src/domain/external-id.ts';
import { newAccountId } from '../../../support/drafts.ts';
import { createKey, createParent, createSub, freshStore } from '../../../support/store.ts';

t.test('the database rejects what the code must never store', async (t) => {
  const { store, sql } = await freshStore(t);
  const parent = (await createParent(store.tenants)).id;
  const { value: sub } = await createSub(store.tenants, parent, { externalId: 'taken' });
  const { key } = await createKey(store.tenants, parent);
  const { id: named } = await createParent(store.tenants, { externalId: 'parent-taken' });

  const newSub = { id: newAccountId(), parent_id: parent as string | null, name: 'N', status: 'active' };
  const newParent = { ...newSub, parent_id: null, sub_accounts: 0, active_sub_accounts: 0 };
  const accounts: readonly [string, object][] = [
    ['a suspended sub-account', { ...newSub, status: 'suspended' }],
    ['a deactivated parent', { ...newParent, status: 'deactivated' }],
    ['an unknown status', { ...newSub, status: 'gone' }],
    ['deactivated without a time', { ...newSub, status: 'deactivated' }],
    ['active with a time of deactivation', { ...newSub, deactivated_at: new Date() }],
    ['a parent with the external_id of another', { ...newParent, external_id: 'parent-taken' }],
    ['a parent with a malformed external_id', { ...newParent, external_id: 'a,b' }],
    ['the nil UUID', { ...newParent, id: '00000000-0000-0000-0000-000000000000' }],
    ['the max UUID', { ...newSub, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }],
    ['a parent that does not count', { ...newParent, active_sub_accounts: null }],
    ['a sub-account that counts', { ...newSub, sub_accounts: 0, active_sub_accounts: 0 }],
    ['a sub-account with a limit of a parent', { ...newSub, max_api_keys: 1 }],
    ['a limit below none', { ...newParent, max_sub_accounts: -1 }],
    ['no request a second', { ...newParent, requests_per_second: 0 }],
    ['a burst without a rate', { ...newSub, burst: 5 }],
    ['no request a minute', { ...newSub, requests_per_minute: 0 }],
    ['no request a day', { ...newSub, requests_per_day: 0 }],
    ['no request a month', { ...newSub, requests_per_month: 0 }],
    ['no unit a month', { ...newSub, units_per_month: 0 }],
    ['fewer than none', { ...newParent, active_sub_accounts: -1 }],
    ['more active than there are', { ...newParent, active_sub_accounts: 1 }],
    ['a child of a sub-account', { ...newSub, parent_id: sub.id }],
    ['a child of no account', { ...newSub, parent_id: newAccountId() }],
    ['a child of its own', { ...newSub, parent_id: newSub.id }],
    ['no name', { ...newSub, name: '' }],
    ['a long name', { ...newSub, name: 'n'.repeat(257) }],
    ['a taken external_id', { ...newSub, external_id: 'taken' }],
    ['an empty external_id', { ...newSub, external_id: '' }],
    ['an external_id with a comma', { ...newSub, external_id: 'a,b' }],
    ['an external_id with a line end', { ...newSub, external_id: 'a\n' }],
    ['a long external_id', { ...newSub, external_id: 'x'.repeat(256) }],
    ['metadata that is no object', { ...newSub, metadata: sql.json([]) }],
  ];
  for (const [name, row] of accounts) {
    await t.rejects(sql`insert into account ${sql(row)}`, { code: /^23/ }, name);
  }
  await t.rejects(
    sql`update account set external_id = 'parent-taken' where id = ${parent}`,
    { code: '23505' },
    'the external_id of another parent',
  );
  await sql`delete from account where id = ${named}`;
  await sql`update account set external_id = 'parent-taken' where id = ${parent}`;
  await t.rejects(sql`update account set parent_id = null where id = ${sub.id}`, { code: /^23/ }, 'a move');
  await t.rejects(sql`delete from account where id = ${parent}`, { code: '23503' }, 'a parent with children');

  const newKey = {
    account_id: parent as string,
    name: 'N',
    digest: randomBytes(32),
    client_secret_digest: randomBytes(32),
    prefix: 'tgw_abcd',
    last4: 'wxyz',
  };
  const keys: readonly [string, typeof newKey, string?][] = [
    ['a key of no account', { ...newKey, account_id: newAccountId() }],
    ['a short digest', { ...newKey, digest: randomBytes(31) }],
    ['a secret in the clear', { ...newKey, client_secret_digest: Buffer.from('tgs_secret') }],
    ['no name', { ...newKey, name: '' }],
    ['a whole key as its hint', { ...newKey, prefix: 'tgw_'.padEnd(43, 'x') }],
    ['a scope with a space', newKey, '{"a b c"}'],
    ['an empty scope', newKey, '{""}'],
    ['a null scope', newKey, '{null}'],
    ['a long scope', newKey, `{${'s'.repeat(101)}}`],
    ['51 scopes', newKey, `{${Array.from({ length: 51 }, (_, i) => `s${i}`).join(',')}}`],
  ];
  for (const [name, row, scopes = '{}'] of keys) {
    await t.rejects(insertKey(row, scopes), { code: /^23/ }, name);
  }
  await t.rejects(
    sql`update api_key set digest = ${randomBytes(0)} where id = ${key.id}`,
    { code: '23514' },
    'no digest',
  );

  await sql`insert into account ${sql(newSub)}`;
  await insertKey(newKey, '{a:b,c.*-_}');
  t.pass('and takes what is well-formed');

  function insertKey(row: typeof newKey, scopes: string): Promise<unknown> {
    return sql`
      insert into api_key (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4)
      values (${randomUUID()}, ${row.account_id}, ${row.name}, ${scopes}::text[], ${row.digest},
        ${row.client_secret_digest}, ${row.prefix}, ${row.last4})`;
  }
});

t.test('the database and the code agree on every character of an external_id', async (t) => {
  const { sql } = await freshStore(t);
  const characters = Array.from({ length: 0x250 }, (_, i) => String.fromCharCode(i + 1));
  const [constraint] = await sql<[{ readonly rule: string }]>`
    select pg_get_constraintdef(oid) as rule from pg_constraint where conname = 'account_external_id'`;
  const pattern = /~ '(.+)'::text/.exec(constraint.rule)?.[1] ?? '';
  const rows = await sql<{ readonly c: string }[]>`
    select c from jsonb_array_elements_text(${sql.json(characters)}) c where c collate "C" ~ ${pattern}`;
  t.same(
    rows.map(({ c }) => c),
    characters.filter((c) => new RegExp(externalIdPattern).test(c)),
  );
});
