import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startTcpUpstream, startUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

t.test(
  'an API key is in no log, no response and no request to an upstream, whatever goes wrong',
  async (t) => {
    const upstream = await startUpstream(t);
    const reset = await startTcpUpstream(t, (socket) => socket.resetAndDestroy());
    const webSockets = await startWebSocketUpstream(t);
    const { call, port, parent, log, directory, finished } = await startGateway(t, {
      routes: {
        '/': upstream.url,
        '/reset': reset.url,
        '/events': webSockets.url,
        '/scoped': { upstream: upstream.url, scopes: { read: 'nobody:has', write: null } },
      },
      apiKeyHeaders: ['X-API-Key'],
    });
    const { key } = parent;
    const authorization = { authorization: `Bearer ${key}` };
    const responses: string[] = [];
    const ask = async (
      method: string,
      target: string,
      options?: Parameters<typeof call>[2],
    ): Promise<void> => {
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
    await ask('GET', '/', { headers: [['Expect', key]] });
    await ask('GET', '/', { headers: [['Content-Length', key]] });
    directory.failure = new Error(`store failed`);
    await ask('GET', '/');
    directory.failure = undefined;
    directory.revoke(parent.revoked);
    await ask('GET', '/');
    directory.revoke([parent.keyKey, directory.facts.get(parent.keyKey) ?? null]);
    const malformed = await rawClient(t, port);
    malformed.send(
      `${requestText('GET', '/', [['Authorization', `Bearer ${key}`]]).trimEnd()}\r\nbroken\r\n\r\n`,
    );
    await malformed.end();
    responses.push(malformed.text);
    await openWebSocket(t, port, '/events', authorization).catch(() => undefined);
    await eventually(() => finished.length > 8, 'the exchanges');

    for (const response of responses) {
      // A path is repeated to the client that sent it; nothing else of a request is.
      t.notOk(response.replaceAll(`/key-in-path/${key}`, '').includes(key), response.slice(0, 80));
    }
    t.notOk(log.text.replaceAll(`/key-in-path/${key}`, '').includes(key), 'the log');
    for (const { rawHeaders } of upstream.received) t.notOk(rawHeaders.join('\n').includes(key));
    t.equal(responses.length, 17);
  },
);

t.test('a route that passes Authorization on passes it to its own upstream alone', async (t) => {
  const [open, closed] = [await startUpstream(t), await startUpstream(t)];
  const { call, parent } = await startGateway(t, {
    routes: { '/': closed.url, '/open': { upstream: open.url, passAuthorization: true } },
  });
  await call('GET', '/open');
  await call('GET', '/closed');
  t.strictSame(open.received[0]?.values('authorization'), [`Bearer ${parent.key}`]);
  t.strictSame(closed.received[0]?.values('authorization'), []);
});
