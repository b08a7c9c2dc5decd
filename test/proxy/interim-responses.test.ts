// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { rawClient, rawRequest, requestText } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const hints = (extra = ''): string =>
  `HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n${extra}\r\n`;

t.test(
  'Early Hints reach the client before the response, without what is the gateway’s to say',
  async (t) => {
    let release = (): void => undefined;
    const upstream = await startTcpUpstream(t, (socket) => {
      socket.write(
        hints(
          'link: </b.js>; rel=preload\r\nX-Service-Resolved-Tenant: forged\r\nX_Request_Id: forged\r\n' +
            'Connection: X-Hop\r\nX-Hop: forged\r\nContent-Length: 7\r\nX-Latin1: caf\xe9\r\n',
        ),
        'latin1',
      );
      release = () => socket.write(`HTTP/1.1 102 Processing\r\n\r\n${ok}`);
    });
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    const client = await rawClient(t, port);
    for (let i = 0; i < 2; i += 1) {
      const before = client.text.length;
      client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
      await client.until(() => client.text.includes('\r\n\r\n', before));
      const head = client.text.slice(before);
      t.match(
        head,
        /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload\r\nlink: <\/b\.js>; rel=preload\r\n/,
      );
      t.notMatch(head, /forged|content-length|connection/i);
      t.match(head, /X-Latin1: caf\xe9\r\n/);
      t.match(head, new RegExp(`X-Service-Resolved-Tenant: ${parent.id}\r\n`));
      release();
      t.equal((await client.response()).body, 'ok');
      t.notMatch(client.text, / 102 /, 'other interim responses stay on the upstream’s side');
    }
  },
);

t.test('Early Hints go neither to a client of HTTP/1.0 nor before an earlier response', async (t) => {
  const release: (() => void)[] = [];
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.includes('/slow')) {
      const respond = (): unknown => socket.write(ok);
      // The second one comes while the first is under way, unless the gateway takes one after the other.
      const alone = setTimeout(respond, 1_000);
      release.push(() => (clearTimeout(alone), respond()));
    } else socket.write(hints() + ok, () => release.shift()?.());
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const authorization = ['Authorization', `Bearer ${parent.key}`] as const;
  const old = requestText('GET', '/', [authorization]).replace('HTTP/1.1', 'HTTP/1.0');
  t.match(await rawRequest(t, port, old), { status: 200, body: 'ok' });
  const oldClient = await rawClient(t, port);
  await oldClient.send(old).end();
  t.ok(oldClient.text.startsWith('HTTP/1.1 200 '));

  const client = await rawClient(t, port);
  client.send(requestText('GET', '/slow', [authorization]) + requestText('GET', '/', [authorization]));
  t.equal((await client.response()).body, 'ok');
  t.equal((await client.response()).body, 'ok');
  t.ok(client.text.startsWith('HTTP/1.1 200 '));
});

t.test('of many Early Hints ten are passed on', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.write(hints().repeat(90) + ok));
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
  t.equal((await client.response()).body, 'ok');
  t.equal(client.text.split('HTTP/1.1 103 ').length - 1, 10);
});

t.test('headers_ms bounds the whole head, whatever comes in before its end', async (t) => {
  for (const [what, first, piece] of [
    ['interim responses', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['Early Hints', '', hints()],
    ['a head that never ends', 'HTTP/1.1 200 OK\r\nX-Long: ', 'x'],
  ] as const) {
    const upstream = await startTcpUpstream(t, (socket) => {
      socket.write(first);
      const talking = setInterval(() => socket.write(piece), 20);
      socket.on('close', () => clearInterval(talking));
    });
    const timeouts = { connectMs: 5_000, headersMs: 400, bodyMs: 5_000 };
    const { call } = await startGateway(t, { routes: { '/': { upstream: upstream.url, timeouts } } });
    t.match((await call('GET', '/')).json(), { code: 'upstream_timeout' }, what);
  }
});

t.test('what no further bytes can make a response is 502 at once, not after a timeout', async (t) => {
  let reply = '';
  const upstream = await startTcpUpstream(t, (socket) => socket.write(reply));
  const timeouts = { connectMs: 5_000, headersMs: 3_600_000, bodyMs: 3_600_000 };
  const { call } = await startGateway(t, { routes: { '/': { upstream: upstream.url, timeouts } } });
  for (reply of [
    'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok',
    'HTTP/1.1 103 Early Hints\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nok',
    'SSH-2.0-OpenSSH_9.6\r\n',
    '220 mail.example ESMTP\r\n',
  ]) {
    t.match(await call('GET', '/'), { status: 502 }, JSON.stringify(reply));
  }
});
