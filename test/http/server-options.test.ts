// class: app
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { eventually, startProxied } from '../support/gateway.ts';
import { RawClient, rawClient, requestText } from '../support/raw-client.ts';

const malformed = ' / HTTP/1.1\r\nHost: gateway.test\r\nNo Name: 1\r\n\r\n';

/** Everything after the head of the only response. */
async function bodyOf(client: RawClient, bytes: string): Promise<string> {
  client.send(bytes);
  await client.end();
  return client.text.slice(client.text.indexOf('\r\n\r\n') + 4);
}

t.test('a HEAD that is no HTTP is rejected without a body, any other request with one', async (t) => {
  const { upstream, port } = await startProxied(t, { limits: { maxHeaderBytes: 4096 } });
  for (const [bytes, status] of [
    [malformed, 400],
    [requestText('', '/', [['X-Large', 'a'.repeat(5000)]]), 431],
  ] as const) {
    for (const method of ['HEAD', 'GET', 'HEADER']) {
      const client = await rawClient(t, port);
      const body = await bodyOf(client, method + bytes);
      const expected = method === 'HEADER' ? 400 : status;
      t.ok(client.text.startsWith(`HTTP/1.1 ${expected} `), `${method}: ${expected}`);
      t.match(client.text, /\r\nContent-Length: [1-9]\d*\r\n/);
      if (method === 'HEAD') t.equal(body, '');
      else t.match(JSON.parse(body), { status: expected });
    }
  }
  t.equal(upstream.heads, 0);
});

t.test('over TLS as well', async (t) => {
  const { port } = await startProxied(t, { tls: certificate.a });
  for (const method of ['HEAD', 'GET']) {
    const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: certificate.a.cert });
    t.teardown(() => socket.destroy());
    await once(socket, 'secureConnect');
    t.equal((await bodyOf(new RawClient(socket), method + malformed)) === '', method === 'HEAD', method);
  }
});

t.test('what only looks like a HEAD, in the middle of another request, is none', async (t) => {
  const { server, port } = await startProxied(t);
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  const client = await rawClient(t, port);
  const first = 'GET / HTTP/1.1\r\n';
  client.send(first);
  await eventually(() => sockets[0]?.bytesRead === first.length);
  t.match(JSON.parse(await bodyOf(client, 'HEAD / HTTP/1.1\r\n\r\n')), { status: 400 });
});
