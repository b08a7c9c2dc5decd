// class: app
import t from 'tap';
import { startProxied } from '../support/gateway.ts';

/** Characters a header name may have beside letters and digits (RFC 9110 §5.6.2). */
const separators = [...`!#$%&'*+-.^_\`|~`];

t.test('no spelling of a header that carries API keys reaches an upstream', async (t) => {
  const { upstream, call } = await startProxied(t, {
    route: { passAuthorization: true },
    apiKeyHeaders: ['X-API-Key', 'api_token'],
  });
  for (const separator of separators) {
    // Where a name is the very one that carries keys, it is a second credential.
    const names = [`X${separator}API${separator}Key`, `API${separator}Token`];
    const headers = names
      .filter((name) => name !== 'X-API-Key' && name !== 'API_Token')
      .map((name): [string, string] => [name, 'another key']);
    t.equal((await call('GET', '/', { headers })).status, 200, separator);
    t.notOk(upstream.received.at(-1)?.rawHeaders.includes('another key'), separator);
  }
});

t.test('the header itself is dropped, whatever it looks like and whatever the route passes on', async (t) => {
  const { upstream, call, parent } = await startProxied(t, {
    route: { passAuthorization: true },
    apiKeyHeaders: ['X-API-Key'],
  });
  for (const name of ['X-API-Key', 'x-api-key', 'X-Api-KEY']) {
    t.equal((await call('GET', '/', { key: null, headers: [[name, parent.key]] })).status, 200, name);
    t.notOk(upstream.received.at(-1)?.rawHeaders.join('\n').includes(parent.key), name);
  }
});

t.test('without the setting such a header is one like any other', async (t) => {
  const { upstream, call } = await startProxied(t);
  await call('GET', '/', { headers: [['X-API-Key', 'of the service behind']] });
  t.strictSame(upstream.received.at(-1)?.values('x-api-key'), ['of the service behind']);
});
