// class: app
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';

t.test('the report over all accounts adds up, by account, by sub-account and by key', async (t) => {
  const apis = await startApis(t);
  const [one, two] = [await apis.parent(), await apis.parent()];
  const child = await one.create({ name: 'Ada', external_id: 'ada' });
  const hourMs = Date.UTC(2025, 5, 1, 12);
  const rows = [
    { accountId: one.id, keyId: one.keyId, requests: 1 },
    { accountId: child.id, keyId: one.keyId, requests: 10 },
    { accountId: two.id, keyId: two.keyId, requests: 100 },
  ].map(({ accountId, ...row }) => usageRow(accountId, hourMs, row));
  await addUsage(apis, rows);

  const period = 'from=2025-06-01&to=2025-06-02';
  const report = async (query: string): Promise<Record<string, unknown>[]> => {
    const { status, body, text } = await apis.operator('GET', `/usage?${period}&${query}`);
    if (status !== 200) throw new Error(text);
    return body['data'] as Record<string, unknown>[];
  };
  const byAccount = await report('group_by=account');
  t.match(byAccount, [
    { account_id: two.id, sub_account_id: null, name: 'Parent', requests: 100 },
    { account_id: one.id, sub_account_id: null, name: 'Parent', requests: 11 },
  ]);
  const bySubAccount = [
    { account_id: one.id, sub_account_id: child.id, external_id: 'ada', name: 'Ada', requests: 10 },
    { account_id: two.id, sub_account_id: two.id, requests: 100 },
    { account_id: one.id, sub_account_id: one.id, external_id: null, requests: 1 },
  ];
  t.match(await report(''), bySubAccount, 'by sub-account where nothing is said');
  t.match(await report('group_by=api_key&granularity=hour'), [
    { sub_account_id: child.id, api_key_id: one.keyId },
    { sub_account_id: two.id, api_key_id: two.keyId },
    { sub_account_id: one.id, api_key_id: one.keyId },
  ]);
  t.match(await report(`account_id=${one.id}&group_by=account`), [{ account_id: one.id, requests: 11 }]);
  t.equal((await report(`account_id=${one.id}`)).length, 2);
  // The parent's own report is as it was.
  const own = await one.call('GET', `/usage?${period}`);
  t.match(own.body['data'], [{ sub_account_id: child.id }, { sub_account_id: one.id }]);
  t.notOk('account_id' in (own.body['data'] as object[])[0]!);
  t.equal((await one.call('GET', '/usage?group_by=account')).status, 400);

  const page = await apis.operator('GET', `/usage?${period}&group_by=account&limit=1`);
  t.same(page.body['data'], byAccount.slice(0, 1));
  const rest = await report(`group_by=account&limit=1&cursor=${String(page.body['next_cursor'])}`);
  t.same(rest, byAccount.slice(1));

  for (const id of ['x', randomUUID(), child.id])
    t.equal((await apis.operator('GET', `/usage?account_id=${id}`)).status, 404, 'no parent account');
  t.equal((await apis.operator('GET', '/usage?from=yesterday')).status, 400);
});
