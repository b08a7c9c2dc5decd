// class: real
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { curl, noCurl } from '../support/foreign-clients.ts';
import { startGateway } from '../support/gateway.ts';
import { rawClient } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

/** Breaks off in the middle of a body, which the client of HTTP/1.0 gets without a length. */
const half = (t: Parameters<typeof startTcpUpstream>[0]) =>
  startTcpUpstream(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n');
    setTimeout(() => socket.destroy(), 20);
  });

t.test('a cut response to HTTP/1.0 ends with a reset, a whole one does not', async (t) => {
  const upstream = await half(t);
  const whole = await startTcpUpstream(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n');
  });
  const { port, parent, directory } = await startGateway(t, {
    routes: { '/cut': upstream.url, '/whole': whole.url },
  });
  for (const [path, keepAlive] of [
    ['/cut', ''],
    ['/cut', 'Connection: keep-alive\r\n'],
    ['/whole', ''],
    ['/whole', 'Connection: keep-alive\r\n'],
  ] as const) {
    const client = await rawClient(t, port);
    let broken: string | undefined = 'ended';
    client.socket.on('error', ({ code }: NodeJS.ErrnoException) => (broken = code));
    client.send(`GET ${path} HTTP/1.0\r\nAuthorization: Bearer ${parent.key}\r\n${keepAlive}\r\n`);
    await client.end();
    t.notMatch(client.text, /content-length|transfer-encoding/i);
    t.ok(client.text.endsWith(path === '/cut' ? '\r\n\r\nhalf' : '\r\n\r\nwhole'), client.text);
    t.equal(broken, path === '/cut' ? 'ECONNRESET' : 'ended', path);
  }

  t.equal(directory.revoke(parent.revoked), 0, 'nothing is left open');
});

t.test('by TLS as well', { skip: noCurl }, async (t) => {
  const upstream = await half(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url }, tls: certificate.a });
  const authorization = ['--header', `Authorization: Bearer ${parent.key}`];
  const { output, code } = await curl(
    '--http1.0',
    '--insecure',
    ...authorization,
    `https://127.0.0.1:${port}/`,
  );
  t.equal(output, 'half');
  t.not(code, 0, 'curl sees that it is not the whole');
});

t.test('a response of no length that a reset ends is cut, one that the upstream ends is whole', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    socket.write(
      `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'x'.repeat(head.includes('/long') ? 50_000 : 9)}`,
    );
    // Both together, so that the gateway finds them in one turn of its event loop.
    if (head.includes('/reset')) socket.resetAndDestroy();
    else socket.end();
  });
  const { finished, dial, requestOf } = await startGateway(t, {
    routes: {
      '/native': { upstream: upstream.url, client: 'native' },
      '/undici': { upstream: upstream.url, client: 'undici' },
    },
  });
  for (const client of ['native', 'undici'])
    for (const length of ['short', 'long'])
      for (const method of ['GET', 'POST']) {
        const cut = await dial(requestOf(method, `/${client}/${length}/reset`, { Connection: 'close' }));
        await cut.end();
        t.not(cut.text.slice(-7), '\r\n0\r\n\r\n', `${method} ${client} ${length}`);
        t.equal(
          finished.at(-1)?.code,
          cut.text.includes('200 OK') ? 'cut_by_upstream' : 'upstream_unreachable',
        );
        const whole = await (await dial(requestOf(method, `/${client}/${length}/end`))).response(method);
        t.equal(whole.body.length, length === 'long' ? 50_000 : 9, `${method} ${client} ${length}`);
      }
});
