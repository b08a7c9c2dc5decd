// class: app
import t from 'tap';
import type { Clock } from '../../src/ports/clock.ts';
import { eventually, startGateway, startProxied } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/upstreams.ts';

t.test('a network that floods an open route gets 429, and other networks are served', async (t) => {
  let nowMs = 1e6;
  const clock: Clock = { monotonicMs: () => nowMs, wallMs: () => Date.now() };
  const { upstream, call, finished } = await startProxied(t, {
    route: { open: { perSecond: 2 } },
    trustedProxies: ['127.0.0.1/32'],
    clock,
  });
  const from = (address: string) => call('GET', '/', { key: null, headers: [['X-Forwarded-For', address]] });
  for (let i = 0; i < 20; i++) t.equal((await from(`2001:db8::${i}`)).status, 200, 'the burst');
  const { status, headers, body } = await from('2001:db8:0:0:1::');
  t.equal(status, 429, 'an address of the same network changes nothing');
  t.equal(headers['retry-after'], '1');
  t.match(JSON.parse(body), { code: 'too_many_requests' });
  t.match(finished.at(-1), { limit: 'open_route', caller: null });
  t.equal(upstream.heads, 20);
  t.equal((await from('2001:db8:1::1')).status, 200, 'another network');
  nowMs += 500;
  t.equal((await from('2001:db8::1')).status, 200, 'half a second holds one request');
  t.equal((await from('2001:db8::1')).status, 429);
});

t.test('requests to an open route that never end leave places in flight for those with a key', async (t) => {
  const upstream = await startRawUpstream(t, () => (request, response) => {
    if (request.url === '/open') request.resume();
    else response.end('ok');
  });
  const { call, dial } = await startGateway(t, {
    routes: {
      '/': { upstream: upstream.url, connections: 64 },
      '/open': { upstream: upstream.url, connections: 64, open: { perSecond: 1_000 } },
    },
    limits: { maxConnections: 64 },
  });
  for (let i = 0; i < 16; i++) await dial(requestText('GET', '/open', []));
  await eventually(() => upstream.heads === 5, 'two thirds of an eighth of all places');
  t.match(await call('GET', '/open', { key: null }), { status: 429 });
  for (let i = 0; i < 10; i++) t.equal((await call('GET', '/')).status, 200);
  t.equal(upstream.heads, 15);
});
