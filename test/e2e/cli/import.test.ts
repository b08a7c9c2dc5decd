// class: app
/** `tenancy-gateway import`, from files as people have them. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { commandLine } from '../../support/command-line.ts';
import { tempFolder } from '../../support/process.ts';
import { startReplicas } from '../../support/replicas.ts';

const { internalOrigin, call, operator } = await startReplicas(t);
const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
const folder = tempFolder(t);
const secret = 'acme_live_5XSMWbZ8c0aKQ2pR';

function file(name: string, ...lines: readonly (string | object)[]): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return path;
}

/** A row with a key of an account. */
const keyOf = (account: string, apiKey: string, name: string, more: object = {}) => ({
  ...{ type: 'api_key', account_external_id: account, api_key: apiKey, name, ...more },
});

const run = (...args: readonly string[]) => commandLine(env, 'import', ...args);

async function accountsLike(start: string): Promise<unknown[]> {
  return (await operator('GET', `/accounts?q=${start}`)).body['data'] as unknown[];
}

t.test('a plan says what would be, the import does it, and the same again changes nothing', async (t) => {
  await operator('POST', '/accounts', { body: { name: 'Planned, old', external_id: 'plan-2' } });
  const taken = { body: { keys: [{ api_key: `${secret}0`, name: 'N' }] } };
  const { body } = await operator('POST', '/accounts', { body: { name: 'Owner', external_id: 'plan-0' } });
  await operator('POST', `/accounts/${String(body['id'])}/api-keys/import`, taken);
  const subAccount = { type: 'sub_account', external_id: 'ada', name: 'Ada' };
  const path = file(
    'plan.jsonl',
    keyOf('plan-1', `${secret}1`, 'Ada', { sub_account_external_id: 'ada', scopes: ['orders:read'] }),
    keyOf('plan-2', `${secret}0`, 'of another'),
    keyOf('plan-1', `${secret}3`, 'old', { expires_at: '2020-01-01T00:00:00Z' }),
    keyOf('plan-9', `${secret}4`, 'of none'),
    '',
    { ...subAccount, account_external_id: 'plan-1', metadata: { tier: '1' } },
    { type: 'account', external_id: 'plan-1', name: 'Planned, new' },
    { type: 'account', external_id: 'plan-2', name: 'Planned, changed' },
    { ...subAccount, account_external_id: 'plan-9' },
  );
  const counts = {
    accounts: { created: 1, updated: 1, unchanged: 0, left_out: 0 },
    sub_accounts: { created: 1, updated: 0, unchanged: 0, left_out: 1 },
    api_keys: { created: 1, updated: 0, unchanged: 0, left_out: 3 },
    left_out: 4,
  };
  for (const option of ['--plan', '--dry-run']) {
    const planned = await commandLine(env, '--json', 'import', path, option);
    t.equal(planned.code, 0, planned.stderr);
    t.same(JSON.parse(planned.stdout), { plan: true, ...counts });
  }
  t.match(await run(path, '--plan'), {
    stdout:
      /TO CREATE +TO UPDATE[^]*keys +1 +0 +0 +3[^]*line 4: There is no such account[^]*nothing was changed/,
  });
  t.equal((await accountsLike('Planned')).length, 1);

  const reportPath = join(folder, 'left-out.jsonl');
  const done = await commandLine(env, '--json', 'import', path, '--report', reportPath);
  t.equal(done.code, 1, 'what was left out is not overlooked');
  t.match(done.stderr, /4 rows were left out/);
  t.same(JSON.parse(done.stdout), { plan: false, ...counts });
  t.equal(statSync(reportPath).mode & 0o777, 0o600);
  const report = readFileSync(reportPath, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { line: number; code: string; reason: string });
  t.same(
    report.sort((a, b) => a.line - b.line).map(({ line, code, reason }) => [line, code, reason]),
    [
      [2, 'api_key_taken', 'The key belongs to another account.'],
      [3, 'invalid_request', 'It has expired already.'],
      [4, 'not_found', 'There is no such account.'],
      [9, 'not_found', 'There is no such account.'],
    ],
  );
  t.equal((await call('GET', '/orders', { key: `${secret}1` })).status, 200, 'Ada’s key works');
  const again = await commandLine(env, '--json', 'import', path);
  t.match(JSON.parse(again.stdout), {
    accounts: { created: 0, updated: 0, unchanged: 2 },
    sub_accounts: { created: 0, unchanged: 1 },
    api_keys: { created: 0, unchanged: 1, left_out: 3 },
  });
  for (const output of [done, again]) t.notMatch(output.stdout + output.stderr, secret);
  t.notMatch(readFileSync(reportPath, 'utf8'), secret, 'the report holds no key');
});

t.test('CSV: columns by name, quotes, pairs of metadata, scopes, an empty cell says nothing', async (t) => {
  const id = '6a1c3d5e-0000-4000-8000-0000000000cc';
  const sha256 = createHash('sha256').update(`${secret}csv`).digest('hex');
  const accounts = file(
    'accounts.csv',
    '\ufeffexternal_id,id,name,metadata.plan,metadata.note\r',
    `csv-1,${id},"Freight, ""Acme""",gold,\r`,
    'csv-2,,Two,,"a\nb"\r',
    '',
  );
  const keys = file(
    'keys.csv',
    'type,account_external_id,name,scopes,sha256,prefix,last4',
    `api_key,csv-1,CI,orders:read orders:write,${sha256},acme_live_,Rcsv`,
  );
  t.match(await run(accounts, '--type', 'account'), { code: 0, stdout: /accounts +2 +0 +0 +0/ });
  t.match(await run(keys), { code: 0, stdout: /keys +1 +0 +0 +0/ });
  const otherScopes = file(
    'other-scopes.csv',
    'type,account_external_id,name,scopes,sha256',
    `api_key,csv-1,CI,orders:read,${sha256}`,
  );
  t.match(await run(otherScopes), {
    code: 0,
    stdout:
      /keys +0 +0 +1 +0\n\nUnchanged, but not as in the file:\n +line 2: The key exists with other scopes/,
  });
  t.match((await operator('GET', `/accounts/${id}`)).body, {
    name: 'Freight, "Acme"',
    external_id: 'csv-1',
    metadata: { plan: 'gold', note: undefined },
  });
  t.match((await operator('GET', `/api-keys?sha256=${sha256}`)).body['data'], [
    {
      name: 'CI',
      scopes: ['orders:read', 'orders:write'],
      prefix: 'acme_live_',
      last4: 'Rcsv',
      account: { id },
    },
  ]);
});

t.test('every fault of a file is named with its line, before anything is sent', async (t) => {
  const tooLong = { type: 'sub_account', metadata: { k: 'v'.repeat(501) } };
  const path = file(
    'faulty.jsonl',
    { type: 'account', external_id: 'faulty-1', name: 'Faulty' },
    { type: 'account', external_id: 'faulty 2', name: 'Faulty', names: 1 },
    `{"type": "account", "external_id": "faulty-3", "name": "${secret}"`,
    { type: 'acount', external_id: 'faulty-4', name: 'Faulty' },
    { type: 'account', external_id: 'faulty-1', name: 'Faulty' },
    keyOf('faulty-1', `${secret},`, 'N'),
    keyOf('faulty-1', `${secret}6`, 'N', { limits: {} }),
    keyOf('faulty-2', `${secret}6`, 'N'),
    { type: 'api_key', api_key: `${secret}7`, name: 'N' },
    { ...tooLong, account_external_id: 'faulty-1', external_id: 's', name: 'N' },
    '[]',
  );
  const { code, stderr, stdout } = await run(path);
  t.equal(code, 1);
  const found = stderr.split('\n').filter((line) => line.startsWith('  line '));
  t.match(found, [
    /^ {2}line 2: names is not a field of this request\. Did you mean `name`\?/,
    /^ {2}line 2: external_id must be visible ASCII/,
    /^ {2}line 3: The line is not JSON\./,
    /^ {2}line 4: type must be one of account, sub_account, api_key\./,
    /^ {2}line 5: external_id is the same as in line 1\./,
    /^ {2}line 6: api_key must be an API key/,
    /^ {2}line 7: limits cannot be set/,
    /^ {2}line 8: api_key is the same as in line 7\./,
    /^ {2}line 9: needs `account_external_id` or `account_id`\./,
    /^ {2}line 10: metadata\/k must have 500 or fewer characters\./,
    /^ {2}line 11: It must be one JSON object\./,
  ]);
  t.equal(found.length, 11);
  t.notMatch(stderr + stdout, secret, 'no value is repeated');
  t.same(await accountsLike('Faulty'), [], 'nothing was sent');

  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['heading.csv', `${secret},name\n`, /line 1: The name of column 1 is not known\./],
    ['near.csv', 'type,extrnal_id\n', /Did you mean `external_id`/],
    ['type.csv', 'external_id,name\nx,y\n', /The column `type` is missing/],
    [
      'cells.csv',
      'type,external_id,name\naccount,a\n',
      /line 2: The row has 2 cells, and the first row has 3\./,
    ],
    ['quote.csv', 'type,external_id,name\naccount,a,"b\n', /line 2: A quote is not closed\./],
    ['x.txt', '', /--format/],
  ];
  for (const [name, text, expected] of cases) {
    const failed = await run(file(name, text));
    t.match(failed.stderr, expected, name);
    t.notMatch(failed.stderr, secret, name);
  }
  writeFileSync(join(folder, 'latin1.csv'), Buffer.from('type,external_id,name\naccount,a,\xfc\n', 'latin1'));
  t.match(await run(join(folder, 'latin1.csv')), { code: 1, stderr: /not UTF-8/ });
  t.match(await run(join(folder, 'none.csv')), { code: 1, stderr: /cannot be read \(ENOENT\)/ });
  t.match(await run(file('empty.csv', '')), { code: 0, stdout: /no rows/ });
});
