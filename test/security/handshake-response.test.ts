// class: app
/** A service that answers a handshake, or a tenant that has it repeat a few bytes there, must not end the gateway. */
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';
import { handshake } from '../support/websockets.ts';

const rejected: readonly (readonly [what: string, response: string])[] = [
  ['a control character in the reason', 'HTTP/1.1 403 Forb\x01idden\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n'],
  ['another version of HTTP', 'HTTP/2.0 403 Forbidden\r\nContent-Length: 0\r\n\r\n'],
  ['a control character in a header', 'HTTP/1.1 403 No\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n'],
  ['a line that ends without CR', 'HTTP/1.1 403 No\nContent-Length: 0\n\n'],
  ['two lengths', 'HTTP/1.1 403 No\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n'],
  [
    'a length and chunks',
    'HTTP/1.1 403 No\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    '5,000 interim responses',
    `${'HTTP/1.1 102 Wait\r\n\r\n'.repeat(5_000)}HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n`,
  ],
];

t.test('a rejected handshake that cannot be passed on is 502, and the next request is served', async (t) => {
  let said = '';
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.startsWith('GET /plain')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    else socket.end(said, 'latin1');
  });
  const { parent, call, finished, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const [what, response] of rejected) {
    said = response;
    const client = await dial(requestText('GET', '/', handshake(parent.key)));
    t.equal((await client.response()).status, 502, what);
    await client.end();
    t.equal((await call('GET', '/plain')).status, 200);
  }
  t.equal(finished.filter(({ code }) => code === 'upstream_unreachable').length, rejected.length);
});
