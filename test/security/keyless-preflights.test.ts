// class: app
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { preflight, requestText } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/upstreams.ts';

const connections = 24;
/** Two thirds of an eighth: one network's. */
const ofNetwork = 2;

for (const client of ['native', 'undici'] as const) {
  t.test(`${client}: preflights that the upstream never answers leave connections for keys`, async (t) => {
    const upstream = await startRawUpstream(t, () => (request, response) => {
      if (request.method === 'OPTIONS') request.resume();
      else response.end('ok');
    });
    const { call, dial } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, preflight: 'pass', connections, client } },
    });
    for (let i = 0; i < 3 * connections; i++) await dial(requestText('OPTIONS', '/', preflight));
    await eventually(() => upstream.heads >= ofNetwork);
    for (let i = 0; i < 10; i++) t.equal((await call('GET', '/')).status, 200);
    t.equal(
      upstream.heads,
      ofNetwork + 10,
      'two thirds of an eighth of the connections are for the requests of one network without a key',
    );
  });
}
