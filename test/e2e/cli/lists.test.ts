// class: app
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { commandLine } from '../../support/command-line.ts';
import { startReplicas } from '../../support/replicas.ts';

const { internalOrigin, operator, parent: newParent } = await startReplicas(t);
const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
const run = (...args: readonly string[]) => commandLine(env, ...args);

const parent = await newParent();
await operator('PATCH', `/accounts/${parent.id}`, { body: { name: 'Acme Freight and Forwarding' } });
const child = await parent.create({ name: 'Ada Logistics' });
await child.mint();
for (let i = 0; i < 101; i++) await parent.create({ name: `Number ${i}` });

t.test('--all shows every page of a list', async (t) => {
  const list = ['sub-accounts', 'list', parent.id];
  t.match((await run(...list)).stdout, /There are more: --all, or --cursor \S+$/m);
  const { stdout } = await run(...list, '--all');
  t.equal(stdout.match(/Number \d+/g)?.length, 101);
  t.match(stdout, 'Ada Logistics');
  t.notMatch(stdout, 'There are more');
  const events = await run('--json', 'events', 'list', '--account', parent.id, '--all');
  t.match(JSON.parse(events.stdout), { has_more: false, next_cursor: null });
  t.equal((JSON.parse(events.stdout) as { data: unknown[] }).data.length, 106);
  for (const more of [['accounts', 'list'], ['keys', 'list', child.id], ['keys', 'find'], ['usage']])
    t.match(await run(...more, '--all'), { code: 0 }, more.join(' '));
  t.match(await run('usage', 'export', '--all'), { code: 64, stderr: /no option --all/ });
});

t.test(
  'the period of a list may begin some time ago, and its next page is had by what is shown',
  async (t) => {
    const list = ['events', 'list', '--account', parent.id, '--from'];
    t.match((await run(...list, '7d', '--to', '1d')).stdout, 'There are no such events');
    const first = await run(...list, '1h', '--limit', '100');
    const [, from = '', cursor = ''] =
      /There are more: --all, or --from (20\S+Z) --cursor (\S+)$/m.exec(first.stdout) ?? [];
    const second = await run(...list, from, '--limit', '100', '--cursor', cursor);
    t.match(second, { code: 0, stdout: /account\.created/ });
    t.match(await run('usage', parent.id, '--from', '1h'), { code: 0, stdout: /complete through/ });
    const minted = await run('--json', 'keys', 'create', parent.id, '--name', 'soon', '--expires-at', '90d');
    const { expires_at: expiry } = JSON.parse(minted.stdout) as { expires_at: string };
    t.ok(Math.abs(Date.parse(expiry) - Date.now() - 90 * 86_400_000) < 3_600_000, expiry);
    const wrong = await run(...list, '1w');
    t.match(wrong, { code: 1, stderr: /RFC 3339/ });
    t.notMatch(wrong.stderr, '%2B');
  },
);

t.test('a list of events fits into 120 columns, and names what was changed', async (t) => {
  await run('keys', 'create', parent.id, '--name', 'a name that is longer than its column');
  const { stdout } = await run('events', 'list', '--account', parent.id, '--all');
  const lines = stdout.split('\n');
  t.same(
    lines.filter((line) => line.length > 120),
    [],
  );
  t.match(lines[0], /^TIME +WHAT +OF +BY +ID$/);
  t.match(stdout, /^20\S+Z +sub_account\.created +Ada Logistics +api_key key +[0-9a-f-]{36}$/m);
  t.match(stdout, /api_key\.created +a name that is … +operator operator +/);
});

t.test('explain names the accounts', async (t) => {
  const asked = ['explain', '--key-id', parent.keyId, '--acting', child.id];
  t.match(
    (await run(...asked)).stdout,
    new RegExp(`caller +parent ${parent.id}  Acme Freight and Forwarding`),
  );
  t.match((await run(...asked)).stdout, new RegExp(`allowed, as ${child.id}  Ada Logistics`));
  const [key] = (await operator('GET', `/api-keys?account_id=${child.id}`)).body['data'] as { id: string }[];
  t.match(
    (await run('explain', '--key-id', key?.id ?? '')).stdout,
    new RegExp(`caller +sub-account ${child.id}  Ada Logistics[^]*allowed, as ${child.id}  Ada Logistics`),
  );
});
