// class: app
import t from 'tap';
import { authorizationSchemes, challengesOf } from '../../src/domain/authorization.ts';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { credentialForms } from '../support/credential-forms.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

t.test('a second credential is 401: neither the one nor the other wins', async (t) => {
  const upstream = await startUpstream(t);
  const { call, directory, parent } = await startGateway(t, {
    routes: { '/': upstream.url },
    apiKeyHeaders: ['X-API-Key', 'Api_Token'],
    schemes: authorizationSchemes,
  });
  const other = directory.addParent();
  const bearer = ['Authorization', `Bearer ${parent.key}`] as const;
  const inAuthorization = Object.values(credentialForms).flatMap(({ of }): [string, string][][] => [
    [
      ['Authorization', of(parent.key)],
      ['X-API-Key', parent.key],
    ],
    [
      ['API_TOKEN', other.key],
      ['Authorization', of(parent.key)],
    ],
    [
      ['X-API-Key', ''],
      ['Authorization', of(parent.key)],
    ],
  ]);
  for (const headers of [
    ...inAuthorization,
    [bearer, ['X-API-Key', parent.key]],
    [bearer, ['X-API-Key', other.key]],
    [['x-api-key', other.key], bearer],
    [bearer, ['API_TOKEN', 'nonsense']],
    [bearer, ['X-API-Key', '']],
    [
      ['Authorization', 'Basic YTpi'],
      ['X-API-Key', parent.key],
    ],
    [
      ['X-API-Key', parent.key],
      ['X-Api-Key', parent.key],
    ],
    [
      ['X-API-Key', parent.key],
      ['Api_Token', other.key],
    ],
  ] as [string, string][][]) {
    const response = await call('GET', '/', { key: null, headers });
    t.equal(response.status, 401, JSON.stringify(headers.map(([name]) => name)));
    t.equal(response.json().code, 'unauthenticated');
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
