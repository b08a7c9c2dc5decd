/** Whose writes the first sub-account of a parent would break. */
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { addUsage, usageRow } from '../support/usage-rows.ts';

const dayMs = 86_400_000;

t.test('keys that wrote without the acting header are listed, the latest first', async (t) => {
  const now = Date.UTC(2099, 5, 20, 15);
  const clock = { wallMs: () => now, monotonicMs: () => performance.now() };
  const apis = await startApis(t, { clock });
  const parent = await apis.parent();
  const minted = await apis.operator('POST', `/accounts/${parent.id}/api-keys`, {
    body: { name: 'nightly' },
  });
  const nightly = String(minted.body['id']);
  const write = (keyId: string, atMs: number, writesByDefault: number) =>
    usageRow(parent.id, atMs, {
      ...{ keyId, requests: 20, writes: 20, writesByDefault, lastWriteByDefaultMs: atMs },
    });
  await addUsage(apis, [
    write(parent.keyId, now - 1_000, 2),
    write(nightly, now - 60_000, 5),
    write(parent.keyId, Date.UTC(2099, 5, 13), 10),
    write(nightly, Date.UTC(2099, 5, 13) - 1, 100),
  ]);
  t.same((await parent.call('GET', '/onboarding')).body, {
    since: '2099-06-13T00:00:00.000Z',
    data: [
      {
        ...{ api_key_id: parent.keyId, name: 'key', requests: 12 },
        last_at: new Date(now - 1_000).toISOString(),
      },
      { api_key_id: nightly, name: 'nightly', requests: 5, last_at: new Date(now - 60_000).toISOString() },
    ],
  });
  const other = await apis.parent();
  t.same((await other.call('GET', '/onboarding')).body['data'], [], 'and no other parent’s');
  t.match(await parent.call('GET', '/onboarding?x'), { status: 400 });
});

t.test('it does not speak of the time before such writes were counted', async (t) => {
  const began = Date.now();
  const apis = await startApis(t);
  const { body } = await (await apis.parent()).call('GET', '/onboarding');
  t.same(body['data'], []);
  const since = Date.parse(String(body['since']));
  t.ok(since <= Date.now() && since > began - 7 * dayMs, 'the database is younger than seven days');
});
