// class: app
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { startReplicas } from '../support/replicas.ts';
import { startRawUpstream } from '../support/upstreams.ts';

// Keys that another replica uses while one replica changes them, one by one or all of an account.

const streams = await startRawUpstream(t, () => (_request, response) => void response.write('some'));
const {
  manage,
  call,
  operator,
  origin,
  parent: newParent,
} = await startReplicas(t, `routes: [{prefix: /stream, upstream: "${streams.url}"}]`, 'Basic, user name');

/** A response that goes on until its key ends. */
async function stream(key: string): Promise<IncomingMessage> {
  const request = get(`${origin}/stream`, { headers: { authorization: `Bearer ${key}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // A stream that is cut is reset.
  request.on('error', () => undefined);
  return response.on('error', () => undefined).resume();
}

/** Codes of a request with each key at each replica; 200 for a good key. */
async function atBoth(...keys: readonly string[]): Promise<readonly unknown[]> {
  const responses = await Promise.all(
    keys.flatMap((key) => [call, manage].map((from) => from('GET', '/x', { key }))),
  );
  return responses.map(({ status, body }) => (status === 200 ? 200 : body['code']));
}

/** A key of a sub-account, and what its parent does with it. */
interface Minted {
  readonly key: string;
  readonly rotate: (body: object) => Promise<HttpResponse>;
  readonly change: (expiresAt: string | null) => Promise<HttpResponse>;
}

async function mint(): Promise<Minted> {
  const parent = await newParent();
  const { id } = await parent.create();
  const { body } = await parent.call('POST', `/${id}/api-keys`, { body: { name: 'CI', scopes: ['a:b'] } });
  const path = `/${id}/api-keys/${String(body['id'])}`;
  return {
    key: String(body['api_key']),
    rotate: (body) => parent.call('POST', `${path}/rotate`, { body }),
    change: (expires_at) => parent.call('PATCH', path, { body: { expires_at } }),
  };
}

t.test('from the 2xx of a rotation on the old key works nowhere, and the new one everywhere', async (t) => {
  for (let round = 0; round < 10; round++) {
    const { key, rotate } = await mint();
    t.same(await atBoth(key), [200, 200]);
    const rotated = await rotate({ expires_in: 0 });
    t.match(rotated, { status: 201, headers: { 'x-service-enforced': /^replicas=2; ms=\d+/ } });
    t.same(await atBoth(key), ['api_key_revoked', 'api_key_revoked']);
    t.same(await atBoth(String(rotated.body['api_key'])), [200, 200]);
  }
});

t.test('with an overlap both work, and the old one is refused when it is over', async (t) => {
  const { key, rotate } = await mint();
  t.same(await atBoth(key), [200, 200]);
  const { body } = await rotate({ expires_in: 1 });
  const next = String(body['api_key']);
  t.same(await atBoth(next), [200, 200]);
  await eventually(async () => (await atBoth(key)).every((code) => code === 'api_key_expired'));
  t.same(await atBoth(next), [200, 200]);
});

t.test('from the 2xx on another expiry decides on every replica, a later one too', async (t) => {
  const receipt = { status: 200, headers: { 'x-service-enforced': /^replicas=2; ms=\d+/ } };
  // A busy machine may need longer than the key has; then another one gets twice as long.
  for (let ms = 1_000; ; ms *= 2) {
    const { key, change } = await mint();
    t.same(await atBoth(key), [200, 200]);
    const soon = new Date(Date.now() + ms).toISOString();
    const [sooner, later] = [await change(soon), await change(null)];
    if (sooner.status === 400 || later.status === 409) continue;
    t.match([sooner, later], [receipt, receipt]);
    await eventually(() => Date.now() > Date.parse(soon));
    t.same(await atBoth(key), [200, 200]);
    const end = new Date(Date.now() + ms).toISOString();
    if ((await change(end)).status === 400) continue;
    await eventually(async () => (await atBoth(key)).every((code) => code === 'api_key_expired'));
    // A replica that is unsure of the store's time refuses a key early; the store decides about changes by its own time.
    await eventually(() => Date.now() > Date.parse(end));
    t.match(await change(null), { status: 409, body: { code: 'key_not_active' } });
    return;
  }
});

t.test(
  'a rotation with no overlap ends what is open with the old key, one with an overlap does not',
  async (t) => {
    const [first, second] = [await mint(), await mint()];
    const [ended, goesOn] = [await stream(first.key), await stream(second.key)];
    const rotated = await second.rotate({ expires_in: 3600 });
    t.equal(rotated.status, 201);
    const revoked = await first.rotate({ expires_in: 0 });
    t.match(revoked.headers['x-service-enforced'], /streams=1/);
    await eventually(() => ended.closed);
    t.notOk(goesOn.closed);
    const path = `/api-keys/${String(rotated.body['rotated_from'])}/revoke`;
    t.match((await operator('POST', path)).headers['x-service-enforced'], /streams=1/);
    await eventually(() => goesOn.closed);
  },
);

t.test('from the 2xx on every key of the account is 401 on every replica, and no other key', async (t) => {
  for (let round = 0; round < 5; round++) {
    const parent = await newParent();
    const [child, other] = [await parent.create(), await parent.create()];
    const keys = await Promise.all(Array.from({ length: 12 }, () => child.mint(['a:b'])));
    const others = [parent.key, await other.mint(['a:b'])];
    const good = [...keys, ...others].flatMap(() => [200, 200]);
    t.same(await atBoth(...keys, ...others), good);
    const revoked = await parent.call('POST', `/${child.id}/api-keys/revoke-all`);
    t.match(revoked, {
      status: 200,
      headers: { 'x-service-enforced': /^replicas=2; ms=\d+$/ },
      body: { revoked: 12 },
    });
    t.same(await atBoth(...keys), Array(24).fill('api_key_revoked'));
    t.same(await atBoth(...others), [200, 200, 200, 200]);
    const byOperator = (id: string) => operator('POST', `/accounts/${id}/api-keys/revoke-all`);
    t.match(await byOperator(parent.id), { status: 200, body: { revoked: 1 } });
    t.same(await atBoth(...others), ['api_key_revoked', 'api_key_revoked', 200, 200]);
    t.match(await byOperator(other.id), { status: 200, body: { revoked: 1 } });
    t.same(await atBoth(...others), Array(4).fill('api_key_revoked'));
  }
});

t.test('what is open with any of them ends, and the receipt counts it', async (t) => {
  const parent = await newParent();
  const child = await parent.create();
  const keys = [await child.mint(), await child.mint()];
  const open = await Promise.all([...keys, parent.key].map(stream));
  const revoked = await parent.call('POST', `/${child.id}/api-keys/revoke-all`);
  t.match(revoked.headers['x-service-enforced'], /streams=2/);
  await eventually(() => open.filter(({ closed }) => closed).length === 2);
  t.notOk(open[2]?.closed, 'that of the parent goes on');
  open[2]?.destroy();
});
