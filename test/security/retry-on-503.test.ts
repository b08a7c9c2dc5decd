// class: app
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { startGateway } from '../support/gateway.ts';
import { startTcpUpstream, startUpstream } from '../support/upstreams.ts';

t.test('what an upstream rejects is not sent again', async (t) => {
  const upstream = await startUpstream(t, (_request, response) => {
    response.writeHead(503, { 'retry-after': '0', 'content-length': '4' }).end('busy');
  });
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE']) {
    const before = upstream.heads;
    t.equal((await call(method, '/')).status, 503);
    t.equal(upstream.heads, before + 1, method);
  }
});

t.test('a request cut on a fresh connection is not sent again, nor a write on a used one', async (t) => {
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
});

t.test('a request without a response is not sent again when its time is over', async (t) => {
  const upstream = await startTcpUpstream(t, () => undefined);
  const time = new ManualTime();
  const { call } = await startGateway(t, { routes: { '/': upstream.url }, time });
  t.match(await time.until(call('GET', '/')), { status: 504, code: 'upstream_timeout' });
  t.equal(upstream.heads, 1);
});
