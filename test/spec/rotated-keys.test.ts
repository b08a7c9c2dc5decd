// class: app
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { startReplicas } from '../support/replicas.ts';
import { startRawUpstream } from '../support/upstreams.ts';

// Keys that another replica uses while one replica changes them.

const streams = await startRawUpstream(t, () => (_request, response) => void response.write('some'));
const {
  manage,
  call,
  operator,
  origin,
  parent: newParent,
} = await startReplicas(t, `routes: [{prefix: /stream, upstream: "${streams.url}"}]`, 'ApiKey');

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

/** Status and code of a request with `key` at both replicas. */
async function atBoth(key: string): Promise<unknown[]> {
  const responses = await Promise.all([call('GET', '/x', { key }), manage('GET', '/x', { key })]);
  return responses.map(({ status, body }) => (status === 200 ? 200 : body['code']));
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
  // A busy machine may need longer than the key has; then another one gets twice as long.
  for (let ms = 1_000; ; ms *= 2) {
    const { key, change } = await mint();
    const soon = new Date(Date.now() + ms).toISOString();
    const sooner = await change(soon);
    if (sooner.status === 400) continue;
    t.match(sooner, { status: 200, headers: { 'x-service-enforced': /^replicas=2; ms=\d+/ } });
    const before = await atBoth(key);
    const later = await change(null);
    if (later.status === 409) continue;
    t.same([before, later.status], [[200, 200], 200]);
    await eventually(() => Date.now() > Date.parse(soon));
    t.same(await atBoth(key), [200, 200]);
    const end = new Date(Date.now() + 2 * ms).toISOString();
    t.match(await change(end), { status: 200 });
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
    const open = async (key: string): Promise<IncomingMessage> => {
      const request = get(`${origin}/stream`, { headers: { authorization: `Bearer ${key}` } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.on('error', () => undefined).resume();
      return response;
    };
    const [first, second] = [await mint(), await mint()];
    const [ended, goesOn] = [await open(first.key), await open(second.key)];
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
