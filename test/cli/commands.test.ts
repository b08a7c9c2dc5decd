import t from 'tap';
import { cli, tempFolder } from '../support/process.ts';
import { operatorToken } from '../support/apis.ts';
import { startReplicas } from '../support/replicas.ts';

t.test('the life of an account and its keys, from the command line', async (t) => {
  const { internalOrigin, call } = await startReplicas(t);
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
  const json = async (...args: readonly string[]): Promise<Record<string, never>> => {
    const { code, stdout, stderr } = await cli(env, '--json', ...args);
    if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, never>;
  };
  const text = async (...args: readonly string[]): Promise<string> => (await cli(env, ...args)).stdout;

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
  for (const output of [accounts, keys, shown])
    t.notMatch(output, '\u001b', 'no colours where there is no terminal');

  t.match(await json('accounts', 'suspend', id ?? ''), { status: 'suspended' });
  t.equal(await status(), 403);
  t.match(await json('accounts', 'resume', id ?? ''), { status: 'active' });
  t.equal(await status(), 200);
  t.match(await text('keys', 'revoke', id ?? '', minted['id'] ?? ''), /production\) is revoked/);
  t.equal(await status(), 401);
});

const awayUrl = 'postgres://nobody@127.0.0.1:1/none';

t.test('what goes wrong is said with the next step and told by the exit code', async (t) => {
  const { internalOrigin, origin } = await startReplicas(t);
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
  // A developer who has tried the gateway in this folder has a token in ./data.
  const noToken = { INTERNAL_PORT: '1', DATA_DIR: tempFolder(t) };
  const cases: readonly (readonly [string, Record<string, string>, readonly string[], number, RegExp])[] = [
    ['unknown account', env, ['accounts', 'show', 'nope'], 1, /Not found[^]*accounts list/],
    ['wrong token', { ...env, ADMIN_TOKEN: 'wrong' }, ['accounts', 'list'], 77, /ADMIN_TOKEN/],
    ['no token', noToken, ['accounts', 'list'], 77, /no operator token[^]*DATA_DIR/],
    ['public address', env, ['--url', origin, 'accounts', 'list'], 77, /internal/],
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
      const { code, stderr, stdout } = await cli(variables, ...args);
      t.equal(code, expected, name);
      t.match(stderr, pattern, name);
      t.equal(stdout, '', `${name}: nothing on standard output`);
    }),
  );
  const failed = await cli({ ...env, ADMIN_TOKEN: 'wrong' }, '--json', 'accounts', 'list');
  t.match(JSON.parse(failed.stderr), { error: String, exit_code: 77, problem: { code: 'unauthenticated' } });
});
