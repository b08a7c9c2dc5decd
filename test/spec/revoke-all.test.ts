// class: app
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startReplicas } from '../support/replicas.ts';
import { startRawUpstream } from '../support/upstreams.ts';

// All keys of an account, used at both replicas, revoked by one call to the first.

const streams = await startRawUpstream(t, () => (_request, response) => void response.write('some'));
const {
  manage,
  call,
  operator,
  origin,
  parent: newParent,
} = await startReplicas(t, `routes: [{prefix: /stream, upstream: "${streams.url}"}]`, 'Basic, user name');

/** Codes of a request with each key at each replica; 200 for a good key. */
async function atBoth(keys: readonly string[]): Promise<readonly unknown[]> {
  const responses = await Promise.all(
    keys.flatMap((key) => [call, manage].map((from) => from('GET', '/x', { key }))),
  );
  return responses.map(({ status, body }) => (status === 200 ? 200 : body['code']));
}

t.test('from the 2xx on every key of the account is 401 on every replica, and no other key', async (t) => {
  for (let round = 0; round < 5; round++) {
    const parent = await newParent();
    const [child, other] = [await parent.create(), await parent.create()];
    const keys = await Promise.all(Array.from({ length: 12 }, () => child.mint(['a:b'])));
    const others = [parent.key, await other.mint(['a:b'])];
    const good = [...keys, ...others].flatMap(() => [200, 200]);
    t.same(await atBoth([...keys, ...others]), good);
    const revoked = await parent.call('POST', `/${child.id}/api-keys/revoke-all`);
    t.match(revoked, {
      status: 200,
      headers: { 'x-service-enforced': /^replicas=2; ms=\d+$/ },
      body: { revoked: 12 },
    });
    t.same(await atBoth(keys), Array(24).fill('api_key_revoked'));
    t.same(await atBoth(others), [200, 200, 200, 200]);
    const ofParent = await operator('POST', `/accounts/${parent.id}/api-keys/revoke-all`);
    t.match(ofParent, { status: 200, body: { revoked: 1 } });
    t.same(await atBoth(others), ['api_key_revoked', 'api_key_revoked', 200, 200]);
  }
});

t.test('what is open with any of them ends, and the receipt counts it', async (t) => {
  const parent = await newParent();
  const child = await parent.create();
  const keys = [await child.mint(), await child.mint()];
  const open = await Promise.all(
    [...keys, parent.key].map(async (key) => {
      const request = get(`${origin}/stream`, { headers: { authorization: `Bearer ${key}` } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return response.on('error', () => undefined).resume();
    }),
  );
  const revoked = await parent.call('POST', `/${child.id}/api-keys/revoke-all`);
  t.match(revoked.headers['x-service-enforced'], /streams=2/);
  await eventually(() => open.filter(({ closed }) => closed).length === 2);
  t.notOk(open[2]?.closed, 'that of the parent goes on');
  open[2]?.destroy();
});
