// class: app
import t from 'tap';
import { authorizationSchemes } from '../../src/domain/authorization.ts';
import { basic, credentialForms } from '../support/credential-forms.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';
import { startTcpUpstream, startUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

t.test('an API key is in no log, no response and no request to an upstream', async (t) => {
  const upstream = await startUpstream(t);
  const reset = await startTcpUpstream(t, (socket) => socket.resetAndDestroy());
  const webSockets = await startWebSocketUpstream(t);
  const { call, port, parent, log, directory, finished, dial } = await startGateway(t, {
    routes: {
      '/': upstream.url,
      '/reset': reset.url,
      '/events': webSockets.url,
      '/scoped': { upstream: upstream.url, scopes: { read: 'nobody:has', write: null } },
    },
    apiKeyHeaders: ['X-API-Key'],
    schemes: authorizationSchemes,
  });
  const { key } = parent;
  // The key, and the middle of its base64 behind user names of any length.
  const forms = ['', 'a', 'ab'].map((before) =>
    Buffer.from(before + key)
      .toString('base64')
      .slice(4, -8),
  );
  const tells = (text: string): boolean => [key, ...forms].some((form) => text.includes(form));
  const authorization = { authorization: `Bearer ${key}` };
  const responses: string[] = [];
  const ask = async (method: string, target: string, options?: Parameters<typeof call>[2]): Promise<void> => {
    const { rawHead, body } = await call(method, target, options);
    responses.push(rawHead + body);
  };
  await ask('GET', '/ok');
  await ask('GET', `/key-in-path/${key}`, { key: null });
  await ask('GET', `/?api_key=${key}`, { key: null });
  await ask('GET', '/ok', { key: null, headers: [['X-API-Key', key]] });
  await ask('GET', '/', { headers: [['X-API-Key', key]] });
  await ask('GET', '/reset');
  await ask('GET', '/scoped');
  await ask('GET', '/v1/%2e/sub-accounts');
  await ask('GET', '/', { headers: [['Authorization', `Bearer ${key}`]] });
  await ask('GET', '/', { key: `${key}x` });
  await ask('GET', '/', { key: null, headers: [['Authorization', key]] });
  await ask('GET', '/', { headers: [['X-Service-Acting-Tenant', `ext:${key}`]] });
  for (const { of } of Object.values(credentialForms))
    for (const value of [
      of(key),
      of(`${key}x`),
      `${of(key)}=`,
      `${of(key)}, ${of(key)}`,
      `Digest ${of(key)}`,
    ]) {
      await ask('GET', '/ok', { key: null, headers: [['Authorization', value]] });
      await ask('GET', '/reset', { key: null, headers: [['Authorization', value]] });
      await ask('GET', '/v1/sub-accounts', { key: null, headers: [['Authorization', value]] });
    }
  await ask('GET', '/', { key: null, headers: [['Authorization', basic(`${key}:${key}`)]] });
  await ask('GET', '/', { key: null, headers: [['Authorization', basic(`a\0${key}:`)]] });
  await ask('GET', '/', { headers: [['Expect', key]] });
  await ask('GET', '/', { headers: [['Content-Length', key]] });
  directory.failure = new Error(`store failed`);
  await ask('GET', '/');
  directory.failure = undefined;
  directory.revoke(parent.revoked);
  await ask('GET', '/');
  directory.revoke([parent.keyKey, directory.facts.get(parent.keyKey) ?? null]);
  const malformed = await dial(
    `${requestText('GET', '/', [['Authorization', `Bearer ${key}`]]).trimEnd()}\r\nbroken\r\n\r\n`,
  );
  await malformed.end();
  responses.push(malformed.text);
  await openWebSocket(t, port, '/events', authorization).catch(() => undefined);
  await eventually(() => finished.length > 8, 'the exchanges');

  for (const response of responses) {
    // A path is repeated to the client that sent it; nothing else of a request is.
    t.notOk(tells(response.replaceAll(`/key-in-path/${key}`, '')), 'the key, in a response', {
      response: response.slice(0, 80),
    });
  }
  t.notOk(tells(log.text.replaceAll(`/key-in-path/${key}`, '')), 'the log');
  for (const { rawHeaders } of upstream.received) t.notOk(tells(rawHeaders.join('\n')));
  t.equal(responses.length, 17 + 3 * 5 * 5 + 2);
});

t.test('a route that passes Authorization on passes it to its own upstream alone', async (t) => {
  const [open, closed] = [await startUpstream(t), await startUpstream(t)];
  const { call, parent } = await startGateway(t, {
    routes: { '/': closed.url, '/open': { upstream: open.url, passAuthorization: true } },
    schemes: authorizationSchemes,
  });
  for (const { of } of Object.values(credentialForms)) {
    const headers = [['Authorization', of(parent.key)]] as const;
    await call('GET', '/open', { key: null, headers });
    await call('GET', '/closed', { key: null, headers });
    t.strictSame(open.received.at(-1)?.values('authorization'), [of(parent.key)]);
    t.strictSame(closed.received.at(-1)?.values('authorization'), []);
  }
  t.equal(open.heads + closed.heads, 2 * Object.keys(credentialForms).length);
});
