// class: app
/** Commands by what people have at hand in the night: a piece of a key, a customer's own id, an id of unknown kind. */
import { createHash } from 'node:crypto';
import t from 'tap';
import { startCommands } from '../../support/commands.ts';

type Json = Readonly<Record<string, unknown>>;

t.test(
  'a key is found by whatever piece of it leaked, and exit code 1 says that there is none',
  async (t) => {
    const { run, operator, parent: newParent } = await startCommands(t, 'keys: {prefix: shipco2}');
    const find = (piece: string) => run(`keys find ${piece}`);
    const { id, key, keyId } = await newParent();
    const old = 'shipco_live_7f3K0000000000000000Ld5N';
    const imported = await operator('POST', `/accounts/${id}/api-keys/import`, {
      body: {
        keys: [
          { api_key: old, name: 'old', prefix: 'shipc' },
          { api_key: 'x'.repeat(40), name: 'x', prefix: null },
        ],
      },
    });
    const { data } = imported.body as { data: Json[] };
    const oldId = String(data[0]?.['id']);

    for (const text of ['shipco2_', key.slice(0, 11), key.slice(0, 15), key.slice(0, 30)])
      t.match(await find(`--prefix ${text}`), { code: 0, stdout: keyId }, text);
    for (const text of ['shipco_live_7f', 'ship', old.slice(0, 20)])
      t.match(await find(`--prefix ${text}`), { code: 0, stdout: oldId }, text);
    const whole = await find(`--prefix ${old} --last4 Ld5N`);
    t.match(whole, { code: 0, stdout: new RegExp(`whole key[^]*--stdin[^]*${oldId}`) });
    t.notMatch(whole.stdout, keyId, 'a whole key is one key');
    const digest = createHash('sha256').update('x'.repeat(40)).digest('hex');
    t.match(await find(`--sha256 ${digest}`), { code: 0, stdout: String(data[1]?.['id']) });

    const none = /There is no such key[^]*imported keys fewer[^]*--stdin/;
    t.match(await find('--prefix acme'), { code: 1, stdout: '', stderr: none });
    t.match(await find(`--prefix tgw_${'x'.repeat(39)}`), { code: 1, stderr: /no such key/ });
  },
);

t.test('an account is named by its id or its external_id, and a sub-account by its id alone', async (t) => {
  const { run, operator, call, parent: newParent } = await startCommands(t);
  const parent = await newParent();
  await operator('PATCH', `/accounts/${parent.id}`, { body: { external_id: 'cus_42' } });
  const sub = await parent.create({ name: 'Harbour', external_id: 'har' });
  const minted = (await parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'CI' } })).body;
  const acts = async () => (await call('GET', '/x', { key: String(minted['api_key']) })).status;

  const good: readonly (readonly [string, RegExp])[] = [
    ['accounts show ext:cus_42', new RegExp(`id +${parent.id}`)],
    [`accounts show ${sub.id}`, new RegExp(`name +Harbour[^]*parent +${parent.id}`)],
    ['accounts update ext:cus_42 --name Ada', /name +Ada/],
    ['sub-accounts list ext:cus_42', /Harbour/],
    [`sub-accounts show ${sub.id}`, /Harbour/],
    ['sub-accounts show ext:cus_42 ext:har', /Harbour/],
    [`sub-accounts update ${sub.id} --name Port`, /name +Port/],
    ['keys list ext:cus_42', /ID +NAME/],
    [`keys list ${sub.id}`, /CI/],
    ['keys find --account ext:cus_42', /ID +NAME/],
    ['keys create ext:cus_42 --name night', /api key +tgw_/],
    ['usage ext:cus_42', /complete through/],
    [`usage ${sub.id}`, /complete through/],
    ['usage ext:cus_42 --sub-account ext:har', /complete through/],
    ['events list --account ext:cus_42', /sub_account.created/],
    [`events list --account ${sub.id}`, /sub_account.updated/],
  ];
  for (const [line, stdout] of good) t.match(await run(line), { code: 0, stdout }, line);

  const nobody = crypto.randomUUID();
  const bad: readonly (readonly [string, RegExp])[] = [
    ['accounts show cus_42', /no account cus_42[^]*ext:/],
    ['accounts show ext:none', /No account has the external_id none/],
    [`accounts show ${nobody}`, /There is no account or sub-account/],
    [`accounts suspend ${sub.id}`, /is a sub-account of [^]*sub-accounts deactivate/],
    [`sub-accounts list ${sub.id}`, /is a sub-account of/],
    [`sub-accounts show ${parent.id}`, /is a parent account/],
    [`sub-accounts show ${parent.id} ${nobody}`, /There is no such sub-account here/],
    [`keys show ${nobody}`, /There is no such API key here/],
    [`keys revoke ${parent.id} ${nobody}`, /There is no such API key here/],
    [`keys revoke ${sub.id} ${nobody}`, /There is no such API key here/],
    [`keys revoke ${sub.id} ${parent.keyId}`, /The sub-account \S+ has no API key/],
    [`events show ${nobody}`, /There is no such event here/],
    [`explain --key-id ${nobody}`, /There is no such API key here/],
  ];
  for (const [line, stderr] of bad) t.match(await run(line), { code: 1, stderr }, line);

  t.equal(await acts(), 200);
  t.match(await run(`sub-accounts deactivate ${sub.id}`), { code: 0, stdout: /deactivated/ });
  t.equal(await acts(), 403);
  t.match(await run('sub-accounts reactivate ext:cus_42 ext:har'), { code: 0 });
  t.match(await run(`keys revoke ${sub.id} ${String(minted['id'])}`), { code: 0, stdout: /is revoked/ });
});

t.test('a change says on how many replicas it is in force, after how long, and what it ended', async (t) => {
  const { text, json, parent: newParent } = await startCommands(t);
  const { id, keyId } = await newParent();
  const inForce = /In force on 2 replicas after \d+ ms\./;
  const enforced = { replicas: 2, ms: Number, unheard: 0, streams: 0 };
  t.match(await text(`accounts suspend ${id}`), inForce);
  t.match(await json(`accounts resume ${id}`), { id, enforced });
  t.notMatch(await text(`accounts update ${id} --name Ada`), inForce, 'a name decides nothing');
  for (const line of [`keys rotate ${keyId} --expires-in 0`, `keys revoke ${keyId}`])
    t.match(await text(line), inForce, line);
});

t.test('a fault is said once, and nothing is said to be unchanged by a read', async (t) => {
  const { run } = await startCommands(t);
  const created = await run("accounts create ''");
  t.equal(created.stderr.match(/must be/g)?.length, 1, created.stderr);
  t.match(created.stderr, /Nothing was changed/);
  const read = await run('events list --from yesterday');
  t.equal(read.code, 1);
  t.notMatch(read.stderr, /Nothing was changed/);
  const wrong = await run('accounts list', { ADMIN_TOKEN: 'wrong' });
  t.notMatch(wrong.stderr, /API key/);
  for (const option of ['--sub-account x', '--csv', '--granularity day', '--cursor x'])
    t.match(await run(`usage export ${option}`), {
      code: 64,
      stderr: new RegExp(`no option ${option.split(' ')[0]}`),
    });
});
