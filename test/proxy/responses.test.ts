// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { rawClient } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

t.test('no length where there can be no body; a 304 states that of the body it stands for', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    const status = head.split(' ')[1]?.slice(1);
    socket.write(`HTTP/1.1 ${status} So\r\nContent-Length: 12\r\nX-Own: 1\r\n\r\n`);
  });
  const { port, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  for (const [method, status, length] of [
    ['GET', 204, undefined],
    ['HEAD', 204, undefined],
    ['DELETE', 204, undefined],
    ['GET', 304, '12'],
    ['HEAD', 200, '12'],
    ['HEAD', 404, '12'],
  ] as const) {
    client.send(requestOf(method, `/${status}`));
    const response = await client.response(method);
    const { headers } = response;
    t.same([response.status, headers['content-length']], [status, length], method);
    t.equal(headers['x-own'], '1');
  }
  t.equal(upstream.connections, 1);
});

t.test('a response is told as it was: status, reason, headers in their order, cookies apart', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write(
      'HTTP/1.1 299 Rather Fine\r\nX-B: 1\r\nX-A: 2\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n' +
        'Date: Sat, 01 Jan 2000 00:00:00 GMT\r\nX-Latin1: caf\xe9\r\nContent-Length: 0\r\n\r\n',
      'latin1',
    );
  });
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  const { rawHead } = await call('GET', '/');
  t.ok(
    rawHead.startsWith(
      'HTTP/1.1 299 Rather Fine\r\nX-B: 1\r\nX-A: 2\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n',
    ),
  );
  t.match(rawHead, /X-Latin1: caf\xe9\r\n/);
  t.equal(rawHead.match(/^date:/gim)?.length, 1);
});

t.test('100 is swallowed, and after a HEAD the connection carries the next request', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    const reply = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';
    socket.write(head.startsWith('HEAD') ? reply : `${reply}ok`);
  });
  const { port, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  for (const method of ['HEAD', 'GET', 'HEAD', 'POST']) {
    client.send(requestOf(method, '/'));
    const { status, body } = await client.response(method);
    t.equal(status, 200);
    t.equal(body, method === 'HEAD' ? '' : 'ok');
  }
  t.notMatch(client.text, / 100 /);
  t.equal(upstream.connections, 1);
});
