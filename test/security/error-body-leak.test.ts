// class: app
import t from 'tap';
import { unusedPort } from '../servers/unused-port.mjs';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { startGateway } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';
import { handshake } from '../support/websockets.ts';

t.test('a response about a failing upstream names no host, no port and no error', async (t) => {
  const refused = await unusedPort();
  const reset = await startTcpUpstream(t, (socket) => socket.resetAndDestroy());
  const silent = await startTcpUpstream(t, () => undefined);
  const time = new ManualTime();
  const { call, dial, parent, log } = await startGateway(t, {
    routes: {
      '/refused': `http://127.0.0.1:${refused}`,
      '/reset': reset.url,
      '/silent': silent.url,
      '/unknown': 'http://no-such-host.invalid:8123',
      '/socket': 'unix:/no/such/directory/upstream.sock',
    },
    time,
  });
  const upgrade = async (path: string) =>
    (await dial(requestText('GET', path, handshake(parent.key)))).response();
  for (const ask of [(path: string) => call('GET', path), upgrade])
    for (const [path, status, code] of [
      ['/refused', 502, 'upstream_unreachable'],
      ['/reset', 502, 'upstream_unreachable'],
      ['/silent', 504, 'upstream_timeout'],
      ['/unknown', 502, 'upstream_unreachable'],
      ['/socket', 502, 'upstream_unreachable'],
    ] as const) {
      const response = await (path === '/silent' ? time.until(ask(path)) : ask(path));
      t.match(response, { status, code }, path);
      t.notMatch(
        response.rawHead + response.body.replace(path, ''),
        /127\.0\.0\.1|no-such-host|upstream\.sock|ECONN|ENOTFOUND|UND_ERR|errno|\bat \w+/,
        path,
      );
      // Without the id, whose digits can be those of a port.
      const said = response.body.replace(String(response.json().request_id), '');
      for (const port of [refused, reset.port, silent.port]) t.notOk(said.includes(String(port)), path);
    }
  t.match(log.text, /ECONNREFUSED/, 'the operator is told');
});
