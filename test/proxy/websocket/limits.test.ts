// class: app
import t from 'tap';
import { eventually, startGateway } from '../../support/gateway.ts';
import { OneReplicaLimiter } from '../../support/one-replica-limiter.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { handshake, openWebSocket, startWebSocketUpstream } from '../../support/websockets.ts';

/** The key comes from elsewhere. */
const upgrade = handshake('').slice(1);

t.test('a WebSocket takes one unit, its 101 says what is left, and without room it is 429', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const rateLimiter = new OneReplicaLimiter();
  const { port, call, directory, parent, dial, requestOf } = await startGateway(t, {
    routes: { '/': upstream.url },
    rateLimiter,
  });
  directory.limitKey(parent, { requestsPerSecond: 1 });
  const client = await dial(requestOf('GET', '/', upgrade));
  await client.until(() => client.text.includes('\r\n\r\n'));
  t.match(client.text, /^HTTP\/1\.1 101 .*ratelimit: "api_key";r=0;t=1\r\n/is);
  const full = await call('GET', '/', { headers: upgrade });
  t.equal(full.status, 429);
  t.match(full.json(), { code: 'rate_limited', limited: 'api_key' });
  rateLimiter.nowS = 1;
  const open = await openWebSocket(t, port, '/', { authorization: `Bearer ${parent.key}` });
  open.socket.send('hello');
  await eventually(() => open.messages.length === 1, 'the echo');
  t.equal(rateLimiter.taken, 2, 'messages count for nothing');
});

t.test('where no upstream is there, a WebSocket is counted and limited all the same', async (t) => {
  const rateLimiter = new OneReplicaLimiter();
  const { call, directory, parent, usage } = await startGateway(t, {
    routes: { '/': `http://127.0.0.1:${await unusedPort()}` },
    rateLimiter,
  });
  directory.limitKey(parent, { requestsPerSecond: 1 });
  t.equal((await call('GET', '/', { headers: upgrade })).status, 502);
  const full = await call('GET', '/', { headers: upgrade });
  t.equal(full.status, 429);
  t.match(full.json(), { code: 'rate_limited', limited: 'api_key' });
  t.equal(rateLimiter.taken, 1);
  t.equal(usage.length, 1, 'what is counted is what was taken');
});
