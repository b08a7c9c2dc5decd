// class: app
import { createServer, type AddressInfo } from 'node:net';
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

t.test(
  'a response about a failing upstream names neither its host nor its port, nor what went wrong',
  async (t) => {
    const refused = await closedPort();
    const reset = await startTcpUpstream(t, (socket) => socket.resetAndDestroy());
    const silent = await startTcpUpstream(t, () => undefined);
    const timeouts = { connectMs: 300, headersMs: 300, bodyMs: 300 };
    const { call, log } = await startGateway(t, {
      routes: {
        '/refused': `http://127.0.0.1:${refused}`,
        '/reset': reset.url,
        '/silent': { upstream: silent.url, timeouts },
        '/unknown': 'http://no-such-host.invalid:8123',
        '/socket': 'unix:/no/such/directory/upstream.sock',
      },
    });
    for (const [path, status] of [
      ['/refused', 502],
      ['/reset', 502],
      ['/silent', 504],
      ['/unknown', 502],
      ['/socket', 502],
    ] as const) {
      const response = await call('GET', path);
      t.equal(response.status, status, path);
      t.equal(response.headers['content-type'], 'application/problem+json');
      t.equal(response.json().code, status === 502 ? 'upstream_unreachable' : 'upstream_timeout');
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
  },
);

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
