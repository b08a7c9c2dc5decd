// class: app
import t from 'tap';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstreams.ts';

const open = { perSecond: 10_000 };
const imported = 'shipco_live_7f3K9qLd5N';
const padded = 'c2VjcmV0c2VjcmV0c2VjcmV0cw==';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Each form in which a client or a service may write a key. */
const forms: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => `Bearer ${key}`,
  (key) => `bearer   ${key}`,
  (key) => `Token ${key}`,
  (key) => `Anything ${key}`,
  (key) => `Bearer ${key},`,
  (key) => `Bearer ${key}, Bearer x`,
  (key) => `Token token="${key}", nonce="x"`,
  (key) => `Basic ${base64(`${key}:`)}`,
  (key) => `Basic ${base64(`:${key}`)}`,
  (key) => `Basic ${base64(`user:${key}`)}`,
  (key) => `Basic ${base64(key)}`,
  (key) => `Basic ${base64(`${key}:`).replaceAll('=', '')}`,
  (key) => `Bearer x, Basic ${base64(`${key}:`)}`,
  (key) => `Basic Basic ${base64(`${key}:`)}`,
  (key) => `Basic ${base64(`${key}:`)},`,
  (key) => `Basic ${base64(`user:${key}\n`)}`,
  (key) => `Bearer "${key}"`,
  (key) => `Bearer '${key}'`,
  (key) => `Bearer key=${key}`,
  (key) => `Bearer\xa0${key}`,
];

async function start(t: Parameters<typeof startGateway>[0], client: 'native' | 'undici') {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    routes: {
      '/': { upstream: upstream.url, client, open, passAuthorization: true },
      '/kept': { upstream: upstream.url, client, open },
    },
    apiKeyHeaders: ['X-Api-Key'],
  });
  gateway.directory.addKey(gateway.parent, imported);
  gateway.directory.addKey(gateway.parent, padded);
  return { upstream, gateway };
}

/** Sends the header, and returns the values that the upstream got. */
async function seen(
  { call }: TestGateway,
  upstream: Upstream,
  value: string,
  { name = 'Authorization', target = '/' } = {},
): Promise<readonly string[]> {
  const { status } = await call('GET', target, { key: null, headers: [[name, value]] });
  if (status !== 200) throw new Error(`an open route must serve the request, not respond with ${status}`);
  const received = upstream.received.at(-1);
  return received?.rawHeaders.includes(value) ? [value] : (received?.values(name) ?? []);
}

for (const client of ['native', 'undici'] as const) {
  t.test(`${client}: a key of the gateway never reaches the upstream of an open route`, async (t) => {
    const { upstream, gateway } = await start(t, client);
    const { key } = gateway.parent;
    const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    for (const text of [key, mistyped, imported, padded]) {
      for (const form of forms) t.strictSame(await seen(gateway, upstream, form(text)), [], form('KEY'));
      t.strictSame(await seen(gateway, upstream, text, { name: 'X-Api-Key' }), []);
      t.strictSame(await seen(gateway, upstream, text, { name: 'x_api_key' }), []);
    }
    const wide = Buffer.from(`user:${key}`, 'utf16le').toString('base64');
    for (const value of [`Bearer%20${key}`, `Bearer_${key}`, `key-${key}`, `Basic ${wide}`])
      t.strictSame(await seen(gateway, upstream, value), [], value.replace(key, 'KEY'));
    gateway.directory.revoke(gateway.parent.revoked);
    t.strictSame(await seen(gateway, upstream, `Bearer ${key}`), [], 'nor a revoked one');
  });

  t.test(`${client}: a credential of others arrives as it was sent, if the route passes it on`, async (t) => {
    const { upstream, gateway } = await start(t, client);
    for (const value of [
      'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P',
      `Basic ${base64('user:a password')}`,
      'Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", response="753927fa0e85d155564e2e272a28d180"',
      'Negotiate YIIJvwYGKwYBBQUCoIIJszCCCa+gJDAi',
    ]) {
      t.strictSame(await seen(gateway, upstream, value), [value]);
      t.strictSame(await seen(gateway, upstream, value, { target: '/kept' }), []);
    }
  });

  t.test(`${client}: what cannot be told apart from a key does not reach the upstream`, async (t) => {
    const { upstream, gateway } = await start(t, client);
    const foreign = 'Bearer of-another-service-1';
    t.strictSame(await seen(gateway, upstream, foreign), [foreign]);
    gateway.directory.failure = new Error('the store is away');
    t.strictSame(await seen(gateway, upstream, foreign), []);
    gateway.directory.failure = undefined;
    const many = Array.from({ length: 17 }, (_, i) => `part="of-another-service-${i}"`).join(', ');
    t.strictSame(await seen(gateway, upstream, `Digest ${many}`), []);
    const twice: [string, string][] = [
      ['Authorization', foreign],
      ['Authorization', foreign],
    ];
    t.equal((await gateway.call('GET', '/', { key: null, headers: twice })).status, 200);
    t.strictSame(upstream.received.at(-1)?.values('authorization'), []);
  });
}
