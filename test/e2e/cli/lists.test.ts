// class: app
import t from 'tap';
import { startCommands } from '../../support/commands.ts';

const { run, text, json, operator, parent: newParent } = await startCommands(t);

const parent = await newParent();
await operator('PATCH', `/accounts/${parent.id}`, { body: { name: 'Acme Freight and Forwarding' } });
const child = await parent.create({ name: 'Ada Logistics' });
await child.mint();
for (let i = 0; i < 101; i++) await parent.create({ name: `Number ${i}` });

t.test('--all shows every page of a list', async (t) => {
  const list = `sub-accounts list ${parent.id}`;
  t.match(await text(list), /There are more: --all, or --cursor \S+$/m);
  const all = await text(`${list} --all`);
  t.equal(all.match(/Number \d+/g)?.length, 101);
  t.match(all, 'Ada Logistics');
  t.notMatch(all, 'There are more');
  const events = await json(`events list --account ${parent.id} --all`);
  t.match(events, { has_more: false, next_cursor: null });
  t.equal((events['data'] as unknown[]).length, 106);
  for (const more of ['accounts list', `keys list ${child.id}`, 'keys find', 'usage'])
    t.match(await run(`${more} --all`), { code: 0 }, more);
  t.match(await run('usage export --all'), { code: 64, stderr: /no option --all/ });
});

t.test(
  'the period of a list may begin some time ago, and its next page is had by what is shown',
  async (t) => {
    const list = `events list --account ${parent.id} --from`;
    t.match(await text(`${list} 7d --to 1d`), 'There are no such events');
    const first = await text(`${list} 1h --limit 100`);
    const [, from, cursor] = /There are more: --all, or --from (20\S+Z) --cursor (\S+)$/m.exec(first) ?? [];
    t.match(await text(`${list} ${from} --limit 100 --cursor ${cursor}`), /account\.created/);
    t.match(await text(`usage ${parent.id} --from 1h`), /complete through/);
    const minted = await json(`keys create ${parent.id} --name soon --expires-at 90d`);
    const expiry = String(minted['expires_at']);
    t.ok(Math.abs(Date.parse(expiry) - Date.now() - 90 * 86_400_000) < 3_600_000, expiry);
    const wrong = await run(`${list} 1w`);
    t.match(wrong, { code: 1, stderr: /RFC 3339/ });
    t.notMatch(wrong.stderr, '%2B');
  },
);

t.test('a list of events fits into 120 columns, and names what was changed', async (t) => {
  await text(`keys create ${parent.id} --name 'a name that is longer than its column'`);
  const events = await text(`events list --account ${parent.id} --all`);
  const lines = events.split('\n');
  t.same(
    lines.filter((line) => line.length > 120),
    [],
  );
  t.match(lines[0], /^TIME +WHAT +OF +BY +ID$/);
  t.match(events, /^20\S+Z +sub_account\.created +Ada Logistics +api_key key +[0-9a-f-]{36}$/m);
  t.match(events, /api_key\.created +a name that is … +operator operator +/);
});

t.test('explain names the accounts', async (t) => {
  const acting = await text(`explain --key-id ${parent.keyId} --acting ${child.id}`);
  t.match(acting, new RegExp(`caller +parent ${parent.id}  Acme Freight and Forwarding`));
  t.match(acting, new RegExp(`allowed, as ${child.id}  Ada Logistics`));
  const [key] = (await operator('GET', `/api-keys?account_id=${child.id}`)).body['data'] as { id: string }[];
  t.match(
    await text(`explain --key-id ${key?.id}`),
    new RegExp(`caller +sub-account ${child.id}  Ada Logistics[^]*allowed, as ${child.id}  Ada Logistics`),
  );
});
