// class: app
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

t.test('the create of a first sub-account warns of writes that it ends', async (t) => {
  const apis = await startApis(t);
  const warned = async (create: () => Promise<{ status: number; body: Record<string, unknown> }>) => {
    const { status, body } = await create();
    t.equal(status, 201);
    return body['warnings'];
  };
  const users = [await apis.parent(), await apis.parent(), await apis.parent()] as const;
  const quiet = await apis.parent();
  await addUsage(
    apis,
    users.map(({ id, keyId }) =>
      usageRow(id, Date.now(), {
        ...{ keyId, requests: 9, writes: 9, writesByDefault: 7, lastWriteByDefaultMs: Date.now() },
      }),
    ),
  );
  const expected = [{ code: 'acting_tenant_required', detail: /7 writes with one API key[^]*onboarding/ }];
  const body = { name: 'Ada' };
  t.match(await warned(() => users[0].call('POST', '', { body })), expected);
  t.match(await warned(() => users[1].call('PUT', '/by-external-id/ada', { body })), expected);
  t.match(
    await warned(() => apis.operator('POST', `/accounts/${users[2].id}/sub-accounts`, { body })),
    expected,
  );
  t.equal(
    await warned(() => users[0].call('POST', '', { body })),
    undefined,
    'the second one changes nothing',
  );
  t.equal(await warned(() => quiet.call('POST', '', { body })), undefined);
});
