// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { startTcpUpstream, startUpstream } from '../support/upstreams.ts';

t.test('what an upstream rejects is not sent again', async (t) => {
  const upstream = await startUpstream(t, (_request, response) => {
    response.writeHead(503, { 'retry-after': '0', 'content-length': '4' }).end('busy');
  });
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE']) {
    const before = upstream.heads;
    const response = await call(method, '/');
    t.equal(response.status, 503);
    t.equal(upstream.heads, before + 1, method);
  }
});

t.test(
  'what an upstream breaks off is not sent again on a fresh connection, nor a write on a used one',
  async (t) => {
    let kept = 0;
    const upstream = await startTcpUpstream(t, (socket) => {
      // Every other request gets a response, so that the next one finds a connection that was used before.
      if (kept++ % 2 === 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      else socket.destroy();
    });
    const { call } = await startGateway(t, { routes: { '/': { upstream: upstream.url, connections: 1 } } });
    for (const method of ['PATCH', 'PUT', 'POST', 'DELETE']) {
      const [good, bad] = [
        await call('GET', '/'),
        await call(method, '/', { body: method === 'POST' ? 'x' : '' }),
      ];
      t.equal(good.status, 200);
      t.equal(bad.status, 502, method);
    }
    t.equal(upstream.heads, 8);
  },
);

t.test('a request without a response is not sent again when its time is over', async (t) => {
  const upstream = await startTcpUpstream(t, () => undefined);
  const { call } = await startGateway(t, {
    routes: {
      '/': { upstream: upstream.url, timeouts: { connectMs: 1000, headersMs: 300, bodyMs: 300 } },
    },
  });
  const response = await call('GET', '/');
  t.equal(response.status, 504);
  t.equal(response.json().code, 'upstream_timeout');
  t.equal(upstream.heads, 1);
});
