// class: app
/** Operators have names and tokens of their own. Parents learn no name. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { eventsOf, seenBy } from '../../support/events/shown.ts';
import type { Call } from '../../support/http-client.ts';

const tokens = { alice: 'token-of-alice-for-tests-0123456789', bob: 'token-of-bob-for-tests-0123456789ab' };
const apis = await startApis(t, { adminTokens: tokens });

const as =
  (token: string): Call =>
  (method, path, more) =>
    apis.operator(method, path, { key: token, ...more });

t.test('operators are told apart by their tokens', async (t) => {
  const { id } = await apis.parent();
  await as(tokens.alice)('POST', `/accounts/${id}/suspend`);
  await as(tokens.bob)('POST', `/accounts/${id}/resume`);
  t.match(
    (await eventsOf(apis, id)).map(({ type, actor }) => [type, actor.kind, actor.name]),
    [
      ['account.created', 'operator', 'operator'],
      ['api_key.created', 'operator', 'operator'],
      ['account.suspended', 'operator', 'alice'],
      ['account.resumed', 'operator', 'bob'],
    ],
  );
  for (const wrong of ['', 'x', `${tokens.alice}x`, tokens.alice.slice(1), 'alice'])
    t.equal((await as(wrong)('GET', '/accounts')).status, 401, wrong);
});

t.test('without ADMIN_TOKEN the operator API is on for named tokens alone', async (t) => {
  const named = await startApis(t, { adminToken: null, adminTokens: tokens });
  t.equal((await named.operator('GET', '/accounts', { key: tokens.bob })).status, 200);
  t.equal((await named.operator('GET', '/accounts')).status, 401);
});

t.test(
  'a parent sees what operators did to it, but not which of them, nor what they note of it',
  async (t) => {
    const parent = await apis.parent();
    await as(tokens.alice)('PATCH', `/accounts/${parent.id}`, {
      body: { name: 'Renamed', external_id: `x-${parent.id}`, metadata: { risk: 'high' } },
    });
    await as(tokens.alice)('POST', `/accounts/${parent.id}/sub-accounts`, { body: { name: 'Theirs' } });
    const seen = await seenBy(parent);
    const full = await eventsOf(apis, parent.id);
    t.same(
      seen.map((event) => event.id),
      full.map((event) => event.id),
    );
    for (const event of seen)
      t.match(event, {
        actor: { kind: 'operator', key_id: null, name: null },
        request_id: null,
        address: null,
      });
    t.match(full.at(-1), { actor: { name: 'alice' }, request_id: /./, address: '127.0.0.1' });
    t.match(seen.at(2), {
      type: 'account.updated',
      data: {
        object: { name: 'Renamed', external_id: `x-${parent.id}` },
        previous: { name: 'Parent', external_id: null },
      },
    });
    t.match(full.at(2)?.data, { object: { metadata: { risk: 'high' } }, previous: { metadata: {} } });
    t.notMatch(JSON.stringify(seen), /alice|risk|metadata":\{"r/);
  },
);
