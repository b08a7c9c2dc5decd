// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

/** Responses that are none, or that could be taken for two; all forms are in proxy/upstream/rejected-responses.test.ts. */
const broken: Readonly<Record<string, string>> = {
  'bare LF in a header': 'HTTP/1.1 200 OK\r\nX-A: 1\nSet-Cookie: forged=1\r\nContent-Length: 0\r\n\r\n',
  'two Content-Lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 8\r\n\r\nbody',
  'Content-Length and Transfer-Encoding':
    'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'no HTTP at all': 'SSH-2.0-OpenSSH_9.9\r\n\r\n',
  'an upgrade that was not asked for':
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
  'a head that is too large': `HTTP/1.1 200 OK\r\nX-Large: ${'a'.repeat(70_000)}\r\n\r\n`,
};

t.test('a response that breaks the protocol becomes 502, and nothing of it reaches the client', async (t) => {
  let response = '';
  const upstream = await startTcpUpstream(t, (socket) => socket.end(Buffer.from(response, 'latin1')));
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const [name, bytes] of Object.entries(broken)) {
    response = bytes;
    const got = await call('GET', '/');
    t.match(got, { status: 502, code: 'upstream_unreachable' }, name);
    t.notOk(got.headers['set-cookie'], name);
  }
});

t.test('bytes beyond ASCII in a header stay as they are, in every framing', async (t) => {
  let framing = '';
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.end(Buffer.from(`HTTP/1.1 200 caf\xe9\r\nX-Bytes: caf\xe9\r\n${framing}`, 'latin1'));
  });
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  for (framing of [
    'Content-Length: 2\r\n\r\nok',
    'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    '\r\nok',
  ]) {
    const response = await call('GET', '/');
    t.equal(response.status, 200);
    t.equal(response.headers['x-bytes'], 'caf\xe9', JSON.stringify(framing));
    t.equal(response.body, 'ok');
  }
});
