// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { upstreamClient } from '../support/upstream-client-option.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

t.test('headers of the upstream connection, and forged ones of ours, do not reach clients', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.end(
      'HTTP/1.1 200 OK\r\n' +
        'Connection: close, X-Internal\r\n' +
        'X-Internal: secret\r\n' +
        'Keep-Alive: timeout=77\r\n' +
        'Proxy-Authenticate: Basic\r\n' +
        'Proxy-Connection: keep-alive\r\n' +
        'Upgrade: h2c\r\n' +
        'TE: trailers\r\n' +
        'Trailer: X-Later\r\n' +
        'X-Service-Resolved-Tenant: forged\r\n' +
        'x_service_resolved_tenant: forged\r\n' +
        'X-Service-Enforced: forged\r\n' +
        'X-Service-Anything: forged\r\n' +
        'X-Request-Id: forged\r\n' +
        'X_Request_Id: forged\r\n' +
        'Set-Cookie: a=1\r\n' +
        'Set-Cookie: b=2\r\n' +
        'X-Own: kept\r\n' +
        'Content-Length: 2\r\n\r\nok',
    );
  });
  const { call, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const { headers, rawHead, body } = await call('GET', '/');
  t.equal(body, 'ok');
  t.notMatch(rawHead, /forged|secret|timeout=77|h2c|basic/i);
  t.equal(headers['x-service-resolved-tenant'], parent.id);
  t.match(headers['x-request-id'], /^[0-9a-f]{32}$/);
  t.equal(headers['set-cookie'], 'a=1\nb=2');
  t.equal(headers['x-own'], 'kept');
  for (const name of ['trailer', 'te', 'upgrade', 'proxy-authenticate', 'proxy-connection', 'x-internal']) {
    t.notOk(name in headers, name);
  }
});

t.test('headers of the connection to the client do not reach upstreams', async (t) => {
  let seen = '';
  const upstream = await startTcpUpstream(t, (socket, head) => {
    seen = head;
    socket.end('HTTP/1.1 204 No Content\r\n\r\n');
  });
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  const response = await call('GET', '/', {
    headers: {
      'Keep-Alive': 'timeout=5',
      TE: 'trailers',
      Trailer: 'X-Later',
      Upgrade: 'websocket',
      'HTTP2-Settings': 'AAMAAABkAARAAAAAAAIAAAAA',
      'Proxy-Authorization': 'Basic c2VjcmV0',
      'Proxy-Connection': 'keep-alive',
      Proxy: 'http://elsewhere.test',
      Connection: 'keep-alive',
    },
  });
  t.equal(response.status, 204);
  // undici has a word of its own to say about its connection.
  if (upstreamClient === 'undici') seen = seen.replace('connection: keep-alive\r\n', '');
  t.notMatch(seen, /^(?:connection|keep-alive|te|trailer|upgrade|http2-settings|proxy[a-z-]*):/im);
});
