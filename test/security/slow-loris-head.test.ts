// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { rawClient } from '../support/raw-client.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('a head that does not end is cut off, however it drips', async (t) => {
  const upstream = await startUpstream(t);
  const { port } = await startGateway(t, { routes: { '/': upstream.url }, limits: { headTimeoutMs: 300 } });
  const client = await rawClient(t, port);
  client.send('GET / HTTP/1.1\r\nHost: gateway.test\r\n');
  const dripping = setInterval(() => client.send('X-Drip: 1\r\n'), 50);
  t.teardown(() => clearInterval(dripping));
  const response = await client.response();
  t.equal(response.status, 408);
  t.equal(response.json().code, 'request_timeout');
  await client.end();
  t.equal(upstream.heads, 0);
});

t.test('a connection that says nothing at all is closed', async (t) => {
  const { port } = await startGateway(t, { routes: {}, limits: { headTimeoutMs: 300 } });
  const client = await rawClient(t, port);
  await client.end();
  t.ok(client.closed);
});
