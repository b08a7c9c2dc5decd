// class: app
import t from 'tap';
import { authorizationSchemes, challengesOf } from '../../src/domain/authorization.ts';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { credentialForms } from '../support/credential-forms.ts';
import { startGateway, startProxied } from '../support/gateway.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

t.test('a second credential is 401: neither the one nor the other wins', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t, {
    apiKeyHeaders: ['X-API-Key', 'Api_Token'],
    schemes: authorizationSchemes,
  });
  const other = directory.addParent();
  const [key, Authorization] = [parent.key, `Bearer ${parent.key}`];
  for (const headers of [
    ...Object.values(credentialForms).flatMap(({ of }) => [
      { Authorization: of(key), 'X-API-Key': key },
      { API_TOKEN: other.key, Authorization: of(key) },
      { 'X-API-Key': '', Authorization: of(key) },
    ]),
    { Authorization, 'X-API-Key': key },
    { Authorization, 'X-API-Key': other.key },
    { 'x-api-key': other.key, Authorization },
    { Authorization, API_TOKEN: 'nonsense' },
    { Authorization, 'X-API-Key': '' },
    { Authorization: 'Basic YTpi', 'X-API-Key': key },
    { 'X-API-Key': key, 'X-Api-Key': key },
    { 'X-API-Key': key, Api_Token: other.key },
  ] as Record<string, string>[]) {
    const response = await call('GET', '/', { key: null, headers });
    t.match(response, { status: 401, code: 'unauthenticated' }, JSON.stringify(Object.keys(headers)));
    t.equal(response.headers['www-authenticate'], challengesOf(authorizationSchemes).join('\n'));
  }
  t.equal(upstream.heads, 0);
});

t.test('nor on an upgrade, nor on a management call', async (t) => {
  const webSockets = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, {
    routes: { '/events': webSockets.url },
    apiKeyHeaders: ['X-API-Key'],
    schemes: authorizationSchemes,
  });
  for (const { of } of Object.values(credentialForms)) {
    const both = { authorization: of(parent.key), 'x-api-key': parent.key };
    await t.rejects(openWebSocket(t, port, '/events', both), /401/);
  }
  const alone = await openWebSocket(t, port, '/events', { 'x-api-key': parent.key });
  alone.socket.close();
  t.equal(webSockets.handshakes.length, 1);
  t.notOk('x-api-key' in (webSockets.handshakes[0]?.headers ?? {}));

  const apis = await startApis(t, {
    store: await embeddedStore(t),
    apiKeyHeaders: ['X-API-Key'],
    schemes: authorizationSchemes,
  });
  const { key } = await apis.parent();
  const list = (headers: Record<string, string>) => apis.call('GET', '/v1/sub-accounts', { headers });
  t.match(await list({ 'X-API-Key': key }), { status: 200 });
  for (const { of } of Object.values(credentialForms)) {
    t.match(await list({ Authorization: of(key) }), { status: 200 });
    t.match(await list({ 'x-api-key': key, Authorization: of(key) }), {
      status: 401,
      body: { code: 'unauthenticated' },
    });
  }
  t.match(await list({ 'X-API-Key': key, Authorization: 'Basic YTpi' }), { status: 401 });
});
