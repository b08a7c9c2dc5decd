// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { preflight, requestText } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/upstreams.ts';

const connections = 16;

for (const client of ['native', 'undici'] as const) {
  t.test(`${client}: preflights with a body need a key, so none of them holds a connection`, async (t) => {
    const upstream = await startRawUpstream(t, () => (_request, response) => response.writeHead(204).end());
    const { dial, call } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, preflight: 'pass', connections, client } },
    });
    for (const framing of [{ 'Content-Length': '20000' }, { 'Transfer-Encoding': 'chunked' }]) {
      const text = requestText('OPTIONS', '/', { ...preflight, ...framing });
      const clients = await Promise.all(Array.from({ length: 2 * connections }, () => dial(text)));
      for (const each of clients) t.equal((await each.response('OPTIONS')).status, 401);
    }
    t.equal(upstream.heads, 0);
    t.equal((await call('OPTIONS', '/', { key: null, headers: preflight })).status, 204, 'a real one passes');
  });
}
