// class: app
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { startGateway } from '../support/gateway.ts';
import { rawClient } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const hints = (extra = ''): string =>
  `HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n${extra}\r\n`;

t.test('Early Hints reach the client first, without what is the gateway’s to say', async (t) => {
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
  const { port, parent, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  for (let i = 0; i < 2; i += 1) {
    const before = client.text.length;
    client.send(requestOf('GET', '/'));
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
});

t.test('Early Hints do not go to a client of HTTP/1.0', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.write(hints() + ok));
  const { dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestOf('GET', '/').replace('HTTP/1.1', 'HTTP/1.0'));
  t.match(await client.response(), { status: 200, body: 'ok' });
  await client.end();
  t.ok(client.text.startsWith('HTTP/1.1 200 '));
});

t.test('of many Early Hints ten are passed on', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.write(hints().repeat(90) + ok));
  const { dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestOf('GET', '/'));
  t.equal((await client.response()).body, 'ok');
  t.equal(client.text.split('HTTP/1.1 103 ').length - 1, 10);
});

t.test('headers_ms bounds the whole head, whatever comes in before its end', async (t) => {
  for (const [what, first, piece] of [
    ['interim responses', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['Early Hints', '', hints()],
    ['a head that never ends', 'HTTP/1.1 200 OK\r\nX-Long: ', 'x'],
  ] as const) {
    const time = new ManualTime();
    const upstream = await startTcpUpstream(t, (socket) => {
      socket.write(first);
      socket.on(
        'close',
        time.timers.every(20, () => socket.write(piece)),
      );
    });
    const timeouts = { connectMs: 5_000, headersMs: 400, bodyMs: 5_000 };
    const { call } = await startGateway(t, { routes: { '/': { upstream: upstream.url, timeouts } }, time });
    t.match(await time.until(call('GET', '/')), { code: 'upstream_timeout' }, what);
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
