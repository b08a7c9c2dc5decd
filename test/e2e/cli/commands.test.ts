// class: app
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { commandLineFrom } from '../../support/command-line.ts';
import { startCommands } from '../../support/commands.ts';
import { tempFolder } from '../../support/process.ts';

t.test('the life of an account and its keys, from the command line', async (t) => {
  const { env, call, run, text, json } = await startCommands(t);
  const id = String((await json("accounts create 'Ada Logistics'"))['id']);
  const [minted, bare] = await Promise.all([
    json(`keys create ${id} --name production`),
    json(`keys create ${id} --name bare --no-scope --expires-at 2099-01-01T00:00:00Z`),
  ]);
  const scopes = ['sub_accounts:read', 'sub_accounts:write'];
  t.match(minted, { scopes, expires_at: null, status: 'active' });
  t.match(bare, { scopes: [], expires_at: /^2099/ });
  const [key, keyId] = [String(minted['api_key']), String(minted['id'])];
  const status = async (): Promise<number> => (await call('GET', '/v1/shipments', { key })).status;
  t.equal(await status(), 200);

  const [accounts, keys, shown, explained] = await Promise.all([
    text('accounts list'),
    text(`keys list ${id}`),
    text(`accounts show ${id}`),
    text(`explain --key-id ${keyId} --method post --path /v1/x --acting ext:none`),
  ]);
  t.match(accounts, /ID +NAME +STATUS[^]*Ada Logistics +active/);
  t.match(keys, /production +tgw_....….... +active +sub_accounts:read sub_accounts:write +(?:never|20..-)/);
  t.notMatch(keys, key, 'a list shows no key');
  t.match(shown, /name +Ada Logistics/);
  t.match(explained, /refused, 403 acting_tenant_unknown/);
  t.match(explained, /problem +urn:tenancy-gateway:problem:acting_tenant_unknown/);
  for (const output of [accounts, keys, shown])
    t.notMatch(output, '\u001b', 'no colours where there is no terminal');

  t.match(await json(`accounts suspend ${id}`), { status: 'suspended' });
  t.equal(await status(), 403);
  t.match(await json(`accounts resume ${id}`), { status: 'active' });
  t.equal(await status(), 200);
  const byKey = await commandLineFrom(`${key}\n`, env, 'keys', 'find', '--stdin');
  t.match(byKey.stdout, new RegExp(`${keyId} +production +tgw_.+active +Ada Logistics +–`));
  const found = await text(`keys find --account ${id} --status active --limit 1`);
  t.match(found, /(?:bare|production)[^]*--cursor/);
  t.match(await run('keys find --last4 none'), { code: 1, stderr: /There is no such key/ });
  t.match(await text(`keys show ${keyId}`), new RegExp(`account +${id} +Ada Logistics[^]*last used`));
  t.match(await text(`keys revoke ${String(bare['id'])}`), /bare\) is revoked/);
  for (const usage of [`usage ${id}`, 'usage']) t.match(await text(usage), /complete through/);
  t.match(await text(`keys revoke ${id} ${keyId}`), /production\) is revoked/);
  t.equal(await status(), 401);
});

t.test('keys of any account are renamed, rescheduled and rotated from the command line', async (t) => {
  const { run, text, json, call, parent: newParent } = await startCommands(t);
  const parent = await newParent();
  const child = await parent.create();
  const { body } = await parent.call('POST', `/${child.id}/api-keys`, {
    body: { name: 'CI', scopes: ['a:b'] },
  });
  const [id, old] = [String(body['id']), String(body['api_key'])];
  const status = async (key: unknown): Promise<number> =>
    (await call('GET', '/x', { key: String(key) })).status;

  t.match(
    await text(`keys update ${id} --name Warehouse --expires-at 2999-01-01T00:00:00Z`),
    /Warehouse.*expires: 2999-01-01T00:00:00.000Z/,
  );
  t.match(await json(`keys update ${id} --no-expires-at`), { name: 'Warehouse', expires_at: null });
  t.match(await run(`keys update ${id}`), { code: 64, stderr: /nothing to change/ });

  const both = await json(`keys rotate ${id} --expires-in 24h --expires-at 2999-01-01T00:00:00Z`);
  const rotated = { name: 'Warehouse', scopes: ['a:b'], rotated_from: id };
  t.match(both, { ...rotated, expires_at: /^2999/, api_key: /^tgw_/ });
  const bothId = String(both['id']);
  t.same([await status(old), await status(both['api_key'])], [200, 200]);
  const [, expires = ''] = /expires +(\S+)/.exec(await text(`keys show ${id}`)) ?? [];
  t.ok(Math.abs(Date.parse(expires) - Date.now() - 86_400_000) < 3_600_000);
  const last = await text(`keys rotate ${bothId} --expires-in 0`);
  t.match(last, /api key +tgw_[^]*not shown again/);
  t.same(await status(both['api_key']), 401);
  const [, newId] = /^id +(\S+)/.exec(last) ?? [];
  t.match(await text(`keys show ${newId}`), new RegExp(`in place of +${bothId}`));
  t.match(await json(`keys list ${parent.id} --status revoked`), { data: [] });
  for (const [line, code, stderr] of [
    [`keys rotate ${bothId} --expires-in 0`, 1, /no longer active/],
    [`keys rotate ${id}`, 64, /--expires-in/],
    [`keys rotate ${id} --expires-in soon`, 64, /24h/],
  ] as const)
    t.match(await run(line), { code, stderr }, line);
});

t.test('all keys of an account are revoked from the command line, and the receipt is shown', async (t) => {
  const { run, text, json, call, operator, parent: newParent } = await startCommands(t);
  const parent = await newParent();
  await operator('PATCH', `/accounts/${parent.id}`, { body: { external_id: 'cus_42' } });
  const child = await parent.create();
  const keys = [await child.mint(['a:b']), await child.mint(['a:b'])];
  const statuses = () =>
    Promise.all([...keys, parent.key].map(async (key) => (await call('GET', '/x', { key })).status));
  t.same(await statuses(), [200, 200, 200]);
  t.match(
    await text(`keys revoke --all ${child.id}`),
    /revoked, 2 of them by this command\.\n\nIn force on 2 replicas after \d+ ms\./,
  );
  t.same(await statuses(), [401, 401, 200]);
  const enforced = { replicas: 2, unheard: 0 };
  t.match(await json('keys revoke ext:cus_42 --all'), { revoked: 1, enforced });
  t.same(await statuses(), [401, 401, 401]);
  const both = await run(`keys revoke --all ${parent.id} ${parent.keyId}`);
  t.match(both, { code: 64, stderr: /one account and no key/ });
  const unknown = await run(`keys revoke --all ${crypto.randomUUID()}`);
  t.match(unknown, { code: 1, stderr: /There is no account or sub-account/ });
});

t.test('who one is to which gateway is told, and where the token came from', async (t) => {
  const alice = 'the-token-of-alice-in-these-tests';
  const { run, text, json, internalOrigin, origin } = await startCommands(
    t,
    `internal: {admin_tokens: {alice: ${alice}}}`,
  );
  const told = await json('whoami');
  t.match(told, { url: internalOrigin, version: /^\d+\.\d+\.\d+/, replica_id: String });
  t.match(told, { operator: 'operator', token_from: 'ADMIN_TOKEN' });
  t.notMatch(JSON.stringify(told), operatorToken);
  t.match(await text('whoami'), /gateway +http[^]*operator +operator/);
  t.match(await run('whoami', { ADMIN_TOKEN: alice }), { code: 0, stdout: /operator +alice/ });
  t.match(await run('whoami', { ADMIN_TOKEN: 'wrong' }), { code: 77 });
  const own = { TENANCY_GATEWAY_TOKEN: `${alice}\n` };
  t.match(JSON.parse((await run('--json whoami', own)).stdout), {
    ...{ operator: 'alice', role: 'admin', token_from: 'TENANCY_GATEWAY_TOKEN' },
  });
  t.match(await run('whoami', { TENANCY_GATEWAY_TOKEN: 'wrong' }), { code: 77 });
  const unsendable = await run('whoami', { TENANCY_GATEWAY_TOKEN: 'sesame opens' });
  t.match(unsendable, { code: 77, stderr: /TENANCY_GATEWAY_TOKEN is not a token/ });
  t.notMatch(unsendable.stderr, 'sesame');
  t.match(await run(`--url ${origin} whoami`), { code: 77, stderr: /internal/ });
});

t.test('a command for which the role is too low says which one is needed', async (t) => {
  const file = join(tempFolder(t), 'vic');
  const token = 'the-token-of-vic-in-these-tests-01';
  writeFileSync(file, token);
  const { run } = await startCommands(
    t,
    `internal: {admin_tokens: {vic: {token_file: ${file}, role: viewer}}}`,
  );
  const asVic = (line: string) => run(line, { TENANCY_GATEWAY_TOKEN: token });
  t.match(await asVic('whoami'), { code: 0, stdout: /operator +vic[^]*role +viewer/ });
  t.match(await asVic('accounts list'), { code: 0 });
  t.match(await asVic('accounts create Ada'), { code: 77, stderr: /`admin`[^]*whoami/ });
});

const awayUrl = 'postgres://nobody@127.0.0.1:1/none';

t.test('what goes wrong is said with the next step and told by the exit code', async (t) => {
  const { run, origin } = await startCommands(t);
  const cases: readonly (readonly [string, number, RegExp, Readonly<Record<string, string>>?])[] = [
    ['accounts show nope', 1, /no account nope[^]*accounts list/],
    ['accounts list', 77, /ADMIN_TOKEN/, { ADMIN_TOKEN: 'wrong' }],
    [`--url ${origin} accounts list`, 77, /internal/],
    [`keys show tgw_${'x'.repeat(39)}`, 64, /Shells keep[^]*--stdin/],
    ['keys revoke a b c', 64, /One key at a time/],
    ['keys find --stdin', 64, /one API key/],
    [`keys show ${crypto.randomUUID()}`, 1, /Not found/],
    ["accounts create ''", 1, /name/],
    ['acounts list', 64, /Did you mean accounts/],
    ['keys create x', 64, /--name/],
    ['accounts list --limit 0', 64, /1 to 100/],
    ['accounts list', 78, /LOG_LEVEL/, { LOG_LEVEL: 'loud' }],
    ['migrate', 64, /DATABASE_URL/],
    ['restored', 64, /DATABASE_URL/],
    ['restored', 69, /ECONNREFUSED[^]*Run this again/, { DATABASE_URL: awayUrl }],
  ];
  await Promise.all(
    cases.map(async ([line, code, stderr, env]) =>
      t.match(await run(line, env), { code, stderr, stdout: /^$/ }, `${line} ${JSON.stringify(env)}`),
    ),
  );
  const failed = await run('--json accounts list', { ADMIN_TOKEN: 'wrong' });
  t.match(JSON.parse(failed.stderr), { error: String, exit_code: 77, problem: { code: 'unauthenticated' } });
});
