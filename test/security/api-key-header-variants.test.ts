// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

/** Characters a header name may have beside letters and digits (RFC 9110 §5.6.2). */
const separators = [...`!#$%&'*+-.^_\`|~`];

t.test('no spelling of a header that carries API keys reaches an upstream', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, passAuthorization: true } },
    apiKeyHeaders: ['X-API-Key', 'api_token'],
  });
  for (const separator of separators) {
    // Where a name is the very one that carries keys, it is a second credential.
    const names = [`X${separator}API${separator}Key`, `API${separator}Token`];
    const headers = names
      .filter((name) => name !== 'X-API-Key' && name !== 'API_Token')
      .map((name): [string, string] => [name, 'another key']);
    const response = await call('GET', '/', { headers });
    t.equal(response.status, 200, separator);
    t.notOk(upstream.received.at(-1)?.rawHeaders.includes('another key'), separator);
  }
});

t.test('the header itself is dropped, whatever it looks like and whatever the route passes on', async (t) => {
  const upstream = await startUpstream(t);
  const { call, parent } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, passAuthorization: true } },
    apiKeyHeaders: ['X-API-Key'],
  });
  for (const name of ['X-API-Key', 'x-api-key', 'X-Api-KEY']) {
    const response = await call('GET', '/', { key: null, headers: [[name, parent.key]] });
    t.equal(response.status, 200, name);
    t.notOk(upstream.received.at(-1)?.rawHeaders.join('\n').includes(parent.key), name);
  }
});

t.test('without the setting such a header is one like any other', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  await call('GET', '/', { headers: [['X-API-Key', 'of the service behind']] });
  t.strictSame(upstream.received.at(-1)?.values('x-api-key'), ['of the service behind']);
});
