// class: real
import t from 'tap';
import { startProxied } from '../support/gateway.ts';
import { unavailable } from '../../src/coherence/unavailable.ts';

const foreign = 'sk.live/0123456789+abcdef==';

t.test('a key of another format is a key like any other, in each header that carries keys', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t, { apiKeyHeaders: ['X-API-Key'] });
  directory.addKey(parent, foreign);
  for (const header of [
    ['Authorization', `Bearer ${foreign}`],
    ['X-API-Key', foreign],
  ] as [string, string][]) {
    t.equal((await call('GET', '/', { key: null, headers: [header] })).status, 200, header[0]);
    t.strictSame(upstream.received.at(-1)?.values('x-service-caller-tenant'), [parent.id]);
    t.notOk(upstream.received.at(-1)?.rawHeaders.join('\n').includes(foreign));
  }
  t.match((await call('GET', '/', { key: `${foreign}x` })).json(), { code: 'invalid_api_key' });
});

t.test('a mistyped key of ours costs no look-up, under the present prefix and the usual one', async (t) => {
  const { call, parent, directory } = await startProxied(t, { keyPrefix: 'acme' });
  for (const key of [
    `${parent.key.slice(0, -1)}${parent.key.endsWith('0') ? '1' : '0'}`,
    parent.key.slice(0, -1),
    'acme_0123456789012345678901234567890123456789',
    'acme_live_of_another_gateway',
    'too short',
    'x'.repeat(513),
  ]) {
    t.equal((await call('GET', '/', { key })).status, 401, key.length.toString());
  }
  t.equal(directory.decisions, 0);
  t.equal((await call('GET', '/')).status, 200, 'an older key goes on working');
  t.ok(directory.decisions > 0);
});

t.test('an unknown key is looked up in the turn of the network that its client is in', async (t) => {
  const { call, directory } = await startProxied(t, { trustedProxies: ['127.0.0.1'] });
  directory.failure = unavailable();
  const headers = [['X-Forwarded-For', '203.0.113.9, 2001:db8:1:2::77']] as const;
  for (const path of ['/orders', '/v1/sub-accounts'])
    t.equal((await call('GET', path, { key: foreign, headers })).status, 503, path);
  t.strictSame(directory.lookedUpFor, ['2001:db8:1:2', '2001:db8:1:2']);
});
