// class: app
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commandLine, commandLineFrom } from '../../support/command-line.ts';
import { tempFolder } from '../../support/process.ts';
import { operatorToken } from '../../support/apis.ts';
import { startReplicas } from '../../support/replicas.ts';

t.test('the life of an account and its keys, from the command line', async (t) => {
  const { internalOrigin, call } = await startReplicas(t);
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
  const json = async (...args: readonly string[]): Promise<Record<string, never>> => {
    const { code, stdout, stderr } = await commandLine(env, '--json', ...args);
    if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, never>;
  };
  const text = async (...args: readonly string[]): Promise<string> =>
    (await commandLine(env, ...args)).stdout;

  const { id } = await json('accounts', 'create', 'Ada Logistics');
  const [minted, bare] = await Promise.all([
    json('keys', 'create', id ?? '', '--name', 'production'),
    json('keys', 'create', id ?? '', '--name', 'bare', '--no-scope', '--expires-at', '2099-01-01T00:00:00Z'),
  ]);
  t.match(minted, {
    scopes: ['sub_accounts:read', 'sub_accounts:write'],
    expires_at: null,
    status: 'active',
  });
  t.match(bare, { scopes: [], expires_at: /^2099/ });
  const key = String(minted['api_key']);
  const status = async (): Promise<number> => (await call('GET', '/v1/shipments', { key })).status;
  t.equal(await status(), 200);

  const [accounts, keys, shown, explained] = await Promise.all([
    text('accounts', 'list'),
    text('keys', 'list', id ?? ''),
    text('accounts', 'show', id ?? ''),
    text(
      'explain',
      '--key-id',
      minted['id'] ?? '',
      '--method',
      'post',
      '--path',
      '/v1/x',
      '--acting',
      'ext:none',
    ),
  ]);
  t.match(accounts, /ID +NAME +STATUS[^]*Ada Logistics +active/);
  t.match(keys, /production +tgw_....….... +active +sub_accounts:read sub_accounts:write +(?:never|20..-)/);
  t.notMatch(keys, key, 'a list shows no key');
  t.match(shown, /name +Ada Logistics/);
  t.match(explained, /refused, 403 acting_tenant_unknown/);
  t.match(explained, /problem +urn:tenancy-gateway:problem:acting_tenant_unknown/);
  for (const output of [accounts, keys, shown])
    t.notMatch(output, '\u001b', 'no colours where there is no terminal');

  t.match(await json('accounts', 'suspend', id ?? ''), { status: 'suspended' });
  t.equal(await status(), 403);
  t.match(await json('accounts', 'resume', id ?? ''), { status: 'active' });
  t.equal(await status(), 200);
  const keyId = minted['id'] ?? '';
  const byKey = await commandLineFrom(`${key}\n`, env, 'keys', 'find', '--stdin');
  t.match(byKey.stdout, new RegExp(`${keyId} +production +tgw_.+active +Ada Logistics +–`));
  t.match(
    await text('keys', 'find', '--account', id ?? '', '--status', 'active', '--limit', '1'),
    /(?:bare|production)[^]*--cursor/,
  );
  t.match(await commandLine(env, 'keys', 'find', '--last4', 'none'), {
    code: 1,
    stderr: /There is no such key/,
  });
  t.match(await text('keys', 'show', keyId), new RegExp(`account +${id} +Ada Logistics[^]*last used`));
  t.match(await text('keys', 'revoke', bare['id'] ?? ''), /bare\) is revoked/);
  t.match(await text('usage', id ?? ''), /complete through/);
  t.match(await text('usage'), /complete through/);
  t.match(await text('keys', 'revoke', id ?? '', keyId), /production\) is revoked/);
  t.equal(await status(), 401);
});

t.test('keys of any account are renamed, rescheduled and rotated from the command line', async (t) => {
  const { internalOrigin, call, parent: newParent } = await startReplicas(t);
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
  const json = async (...args: readonly string[]): Promise<Record<string, never>> =>
    JSON.parse((await commandLine(env, ...args, '--output', 'json')).stdout) as Record<string, never>;
  const parent = await newParent();
  const child = await parent.create();
  const minted = await parent.call('POST', `/${child.id}/api-keys`, {
    body: { name: 'CI', scopes: ['a:b'] },
  });
  const [id, old] = [String(minted.body['id']), String(minted.body['api_key'])];
  const status = async (key: string): Promise<number> => (await call('GET', '/x', { key })).status;

  t.match(
    await commandLine(
      env,
      'keys',
      'update',
      id,
      '--name',
      'Warehouse',
      '--expires-at',
      '2999-01-01T00:00:00Z',
    ),
    {
      code: 0,
      stdout: /Warehouse.*expires: 2999-01-01T00:00:00.000Z/,
    },
  );
  t.match(await json('keys', 'update', id, '--no-expires-at'), { name: 'Warehouse', expires_at: null });
  t.match(await commandLine(env, 'keys', 'update', id), { code: 64, stderr: /nothing to change/ });

  const both = await json(
    'keys',
    'rotate',
    id,
    '--expires-in',
    '24h',
    '--expires-at',
    '2999-01-01T00:00:00Z',
  );
  t.match(both, {
    name: 'Warehouse',
    scopes: ['a:b'],
    rotated_from: id,
    expires_at: /^2999/,
    api_key: /^tgw_/,
  });
  t.same([await status(old), await status(String(both['api_key']))], [200, 200]);
  const { stdout } = await commandLine(env, 'keys', 'show', id);
  t.ok(Math.abs(Date.parse(/expires +(\S+)/.exec(stdout)?.[1] ?? '') - Date.now() - 86_400_000) < 3_600_000);
  const last = await commandLine(env, 'keys', 'rotate', both['id'] ?? '', '--expires-in', '0');
  t.match(last, { code: 0, stdout: /api key +tgw_[^]*not shown again/ });
  t.same(await status(String(both['api_key'])), 401);
  const [, newId] = /^id +(\S+)/.exec(last.stdout) ?? [];
  t.match(await commandLine(env, 'keys', 'show', newId ?? ''), {
    stdout: new RegExp(`in place of +${both['id']}`),
  });
  t.match(await json('keys', 'list', parent.id, '--status', 'revoked'), { data: [] });
  t.match(await commandLine(env, 'keys', 'rotate', both['id'] ?? '', '--expires-in', '0'), {
    code: 1,
    stderr: /no longer active/,
  });
  t.match(await commandLine(env, 'keys', 'rotate', id), { code: 64, stderr: /--expires-in/ });
  t.match(await commandLine(env, 'keys', 'rotate', id, '--expires-in', 'soon'), { code: 64, stderr: /24h/ });
});

t.test('all keys of an account are revoked from the command line, and the receipt is shown', async (t) => {
  const { internalOrigin, call, operator, parent: newParent } = await startReplicas(t);
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
  const parent = await newParent();
  await operator('PATCH', `/accounts/${parent.id}`, { body: { external_id: 'cus_42' } });
  const child = await parent.create();
  const keys = [await child.mint(['a:b']), await child.mint(['a:b'])];
  const statuses = () =>
    Promise.all([...keys, parent.key].map(async (key) => (await call('GET', '/x', { key })).status));
  t.same(await statuses(), [200, 200, 200]);
  t.match(await commandLine(env, 'keys', 'revoke', '--all', child.id), {
    code: 0,
    stdout: /revoked, 2 of them by this command\.\n\nIn force on 2 replicas after \d+ ms\./,
  });
  t.same(await statuses(), [401, 401, 200]);
  const ofParent = await commandLine(env, '--json', 'keys', 'revoke', 'ext:cus_42', '--all');
  t.match(JSON.parse(ofParent.stdout), { revoked: 1, enforced: { replicas: 2, unheard: 0 } });
  t.same(await statuses(), [401, 401, 401]);
  t.match(await commandLine(env, 'keys', 'revoke', '--all', parent.id, parent.keyId), {
    code: 64,
    stderr: /one account and no key/,
  });
  t.match(await commandLine(env, 'keys', 'revoke', '--all', crypto.randomUUID()), {
    code: 1,
    stderr: /There is no account or sub-account/,
  });
});

t.test('who one is to which gateway is told, and where the token came from', async (t) => {
  const alice = 'the-token-of-alice-in-these-tests';
  const { internalOrigin, origin } = await startReplicas(t, `internal: {admin_tokens: {alice: ${alice}}}`);
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
  const { stdout } = await commandLine(env, 'whoami', '--output', 'json');
  t.match(JSON.parse(stdout), {
    url: internalOrigin,
    version: /^\d+\.\d+\.\d+/,
    replica_id: String,
    operator: 'operator',
    token_from: 'ADMIN_TOKEN',
  });
  t.match(await commandLine(env, 'whoami'), { code: 0, stdout: /gateway +http[^]*operator +operator/ });
  t.match(await commandLine({ ...env, ADMIN_TOKEN: alice }, 'whoami'), {
    code: 0,
    stdout: /operator +alice/,
  });
  t.notMatch(stdout, operatorToken);
  t.match(await commandLine({ ...env, ADMIN_TOKEN: 'wrong' }, 'whoami'), { code: 77 });
  const own = { ...env, TENANCY_GATEWAY_TOKEN: `${alice}\n` };
  t.match(JSON.parse((await commandLine(own, '--json', 'whoami')).stdout), {
    operator: 'alice',
    role: 'admin',
    token_from: 'TENANCY_GATEWAY_TOKEN',
  });
  t.match(await commandLine({ ...env, TENANCY_GATEWAY_TOKEN: 'wrong' }, 'whoami'), { code: 77 });
  const unsendable = await commandLine({ ...env, TENANCY_GATEWAY_TOKEN: 'sesame opens' }, 'whoami');
  t.match(unsendable, { code: 77, stderr: /TENANCY_GATEWAY_TOKEN is not a token/ });
  t.notMatch(unsendable.stderr, 'sesame');
  t.match(await commandLine(env, '--url', origin, 'whoami'), { code: 77, stderr: /internal/ });
});

t.test('a command for which the role is too low says which one is needed', async (t) => {
  const folder = tempFolder(t);
  const token = 'the-token-of-vic-in-these-tests-01';
  writeFileSync(join(folder, 'vic'), token);
  const { internalOrigin } = await startReplicas(
    t,
    `internal: {admin_tokens: {vic: {token_file: ${join(folder, 'vic')}, role: viewer}}}`,
  );
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, TENANCY_GATEWAY_TOKEN: token };
  t.match(await commandLine(env, 'whoami'), { code: 0, stdout: /operator +vic[^]*role +viewer/ });
  t.match(await commandLine(env, 'accounts', 'list'), { code: 0 });
  t.match(await commandLine(env, 'accounts', 'create', 'Ada'), { code: 77, stderr: /`admin`[^]*whoami/ });
});

const awayUrl = 'postgres://nobody@127.0.0.1:1/none';

t.test('what goes wrong is said with the next step and told by the exit code', async (t) => {
  const { internalOrigin, origin } = await startReplicas(t);
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
  // A developer who has tried the gateway in this folder has a token in ./data.
  const noToken = { INTERNAL_PORT: '1', DATA_DIR: tempFolder(t) };
  const cases: readonly (readonly [string, Record<string, string>, readonly string[], number, RegExp])[] = [
    ['unknown account', env, ['accounts', 'show', 'nope'], 1, /no account nope[^]*accounts list/],
    ['wrong token', { ...env, ADMIN_TOKEN: 'wrong' }, ['accounts', 'list'], 77, /ADMIN_TOKEN/],
    ['no token', noToken, ['accounts', 'list'], 77, /no operator token[^]*DATA_DIR/],
    ['public address', env, ['--url', origin, 'accounts', 'list'], 77, /internal/],
    ['key as an argument', env, ['keys', 'show', `tgw_${'x'.repeat(39)}`], 64, /Shells keep[^]*--stdin/],
    ['three ids', env, ['keys', 'revoke', 'a', 'b', 'c'], 64, /One key at a time/],
    ['no key on standard input', env, ['keys', 'find', '--stdin'], 64, /one API key/],
    ['unknown key', env, ['keys', 'show', crypto.randomUUID()], 1, /Not found/],
    ['bad name', env, ['accounts', 'create', ''], 1, /name/],
    ['unknown command', env, ['acounts', 'list'], 64, /Did you mean accounts/],
    ['missing option', env, ['keys', 'create', 'x'], 64, /--name/],
    ['bad limit', env, ['accounts', 'list', '--limit', '0'], 64, /1 to 100/],
    ['bad configuration', { ...env, LOG_LEVEL: 'loud' }, ['accounts', 'list'], 78, /LOG_LEVEL/],
    ['migrate without a database', {}, ['migrate'], 64, /DATABASE_URL/],
    ['restored without a database', {}, ['restored'], 64, /DATABASE_URL/],
    [
      'restored, database away',
      { DATABASE_URL: awayUrl },
      ['restored'],
      69,
      /ECONNREFUSED[^]*Run this again/,
    ],
  ];
  await Promise.all(
    cases.map(async ([name, variables, args, expected, pattern]) => {
      const { code, stderr, stdout } = await commandLine(variables, ...args);
      t.equal(code, expected, name);
      t.match(stderr, pattern, name);
      t.equal(stdout, '', `${name}: nothing on standard output`);
    }),
  );
  const failed = await commandLine({ ...env, ADMIN_TOKEN: 'wrong' }, '--json', 'accounts', 'list');
  t.match(JSON.parse(failed.stderr), { error: String, exit_code: 77, problem: { code: 'unauthenticated' } });
});
