// class: app
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';
import { handshake, startWebSocketUpstream } from '../support/websockets.ts';

t.test('no path brings an upgrade anywhere else than a plain request', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const guarded = await startWebSocketUpstream(t);
  const { parent, dial } = await startGateway(t, {
    routes: {
      '/': upstream.url,
      '/billing': { upstream: guarded.url, scopes: { read: 'billing:read', write: null } },
    },
  });
  for (const [target, status] of [
    ['/v1/%2e/sub-accounts', 400],
    ['/v1//sub-accounts', 400],
    ['/v1/x/../sub-accounts', 400],
    ['http://127.0.0.1:1/x', 400],
    ['/x/..%2f..%2fbilling', 400],
    ['/\\127.0.0.1:1/x', 400],
    ['/a\tb', 400],
    ['/x#y', 400],
    ['/Billing', 400],
    ['/billing', 403],
    ['/billing/x', 403],
  ] as const) {
    const client = await dial(requestText('GET', target, handshake(parent.key)));
    t.equal((await client.response()).status, status, target);
    await client.end();
  }
  t.equal(upstream.handshakes.length, 0);
  t.equal(guarded.handshakes.length, 0);
});

t.test('an upgrade under the management path never leaves the gateway', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { parent, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestText('GET', '/v1/sub-accounts', handshake(parent.key)));
  t.equal((await client.response()).status, 403, 'as without the offer: the key has no scope to list');
  t.equal(upstream.handshakes.length, 0);
});

t.test('the path of an upgrade is the path the upstream gets, byte for byte', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const other = await startWebSocketUpstream(t);
  const { parent, dial } = await startGateway(t, {
    routes: { '/': other.url, '/a': upstream.url, '/-': upstream.url },
  });
  const ask = async (target: string): Promise<void> => {
    const client = await dial(requestText('GET', target, handshake(parent.key)));
    await client.until(() => client.text.startsWith('HTTP/1.1 101'));
  };
  for (const target of [
    ...['/a', '/a/', '/a?', '/a/b%2Fc', '/a/b//c?x=1&y=%20?z', '/a/b|c/{d}', '/a/caf%e9', '/a/?q=[]"<>`'],
    ...['/-/route/0', '/-/route/1/x?y'],
  ]) {
    await ask(target);
    await eventually(() => upstream.handshakes.at(-1)?.url === target, target);
  }
  // What a URL parser would take for a host is a path like any other.
  for (const target of ['//127.0.0.1:1/x', '//c', '/@127.0.0.1:1', '/:1/x']) {
    await ask(target);
    await eventually(() => other.handshakes.at(-1)?.url === target, target);
  }
});
