// class: app
/** A safe request is sent once more if its reused connection ended before a byte of the response came. */
import type { Socket } from 'node:net';
import t from 'tap';
import { ActiveExchanges, type ActiveExchange } from '../../src/proxy/active-exchanges.ts';
import type { ExchangeState } from '../../src/proxy/exchange-states.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import type { Scope } from '../support/servers.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

const good = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Answers the first request of each connection, and ends the connection at the second one. */
async function startForgetful(t: Scope, end: (socket: Socket) => unknown = (socket) => socket.destroy()) {
  const used = new Set<Socket>();
  return startTcpUpstream(t, (socket) => {
    if (used.has(socket)) return end(socket);
    used.add(socket);
    socket.write(good);
  });
}

/** Calls `on` for each state that an exchange takes. */
class WatchedExchanges extends ActiveExchanges {
  on: (state: ExchangeState) => void = () => undefined;

  override enter(exchange: ActiveExchange): void {
    let current: ExchangeState = 'deciding';
    Object.defineProperty(exchange, 'state', {
      get: () => current,
      set: (state: ExchangeState) => {
        current = state;
        this.on(state);
      },
    });
    super.enter(exchange);
  }
}

t.test('a safe request is sent once more, on a new connection, and counts once', async (t) => {
  for (const [how, end] of [
    ['ended', (socket: Socket) => socket.end()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ] as const) {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const upstream = await startForgetful(t, end);
      const { call, usage } = await startGateway(t, { routes: { '/': upstream.url } });
      t.equal((await call('GET', '/')).status, 200);
      t.equal((await call(method, '/')).status, 200, `${method}, ${how}`);
      t.equal(upstream.heads, 3);
      t.equal(upstream.connections, 2);
      t.match(usage, [
        { kind: 'read', status: 200 },
        { kind: 'read', status: 200 },
      ]);
      t.equal(usage.length, 2);
    }
  }
});

t.test('a write is sent once, and so is a request with a body', async (t) => {
  for (const [method, body] of [
    ['POST', ''],
    ['PUT', 'x'],
    ['DELETE', ''],
    ['GET', 'x'],
  ] as const) {
    const upstream = await startForgetful(t);
    const { call } = await startGateway(t, { routes: { '/': upstream.url } });
    t.equal((await call('GET', '/')).status, 200);
    t.equal((await call(method, '/', { body })).status, 502, method);
    t.equal(upstream.heads, 2);
  }
});

t.test('a request whose response has begun is sent once', async (t) => {
  const upstream = await startForgetful(t, (socket) => socket.end('H'));
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  t.equal((await call('GET', '/')).status, 200);
  t.equal((await call('GET', '/')).status, 502);
  t.equal(upstream.heads, 2);
});

t.test('a request is sent twice at most', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    if (upstream.heads === 1) socket.write(good);
    else socket.destroy();
  });
  const { call, usage } = await startGateway(t, { routes: { '/': upstream.url } });
  t.equal((await call('GET', '/')).status, 200);
  t.equal((await call('GET', '/')).status, 502);
  t.equal(upstream.heads, 3);
  t.match(usage, [{ status: 200 }, { status: 502 }]);
});

t.test('a request is not sent again on a connection that was idle as long', async (t) => {
  const held: Socket[] = [];
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.startsWith('GET /held')) held.push(socket);
    else if (held.length < 2 || !held.includes(socket)) socket.write(good);
    else socket.destroy();
  });
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  const first = [call('GET', '/held'), call('GET', '/held')];
  await eventually(() => held.length === 2);
  for (const socket of held) socket.write(good);
  t.same(
    (await Promise.all(first)).map(({ status }) => status),
    [200, 200],
  );
  t.equal((await call('GET', '/')).status, 200);
  t.equal(upstream.connections, 3);
});

t.test('a request is decided again before it is sent once more', async (t) => {
  const upstream = await startForgetful(t);
  const exchanges = new WatchedExchanges();
  const { call, directory, parent, usage } = await startGateway(t, {
    routes: { '/': upstream.url },
    exchanges,
  });
  t.equal((await call('GET', '/')).status, 200);
  let wasSent = false;
  exchanges.on = (state) => {
    wasSent ||= state === 'sent';
    if (wasSent && state === 'queued') directory.revoke(parent.revoked);
  };
  t.equal((await call('GET', '/')).status, 401);
  t.equal(upstream.heads, 2);
  t.match(usage, [{ status: 200 }, { status: 401 }], 'the upstream has had it, so it counts');
});

t.test('a request whose time is over is not sent again', async (t) => {
  const upstream = await startForgetful(t, () => undefined);
  const time = new ManualTime();
  const { call } = await startGateway(t, { routes: { '/': upstream.url }, time });
  t.equal((await call('GET', '/')).status, 200);
  t.equal((await time.until(call('GET', '/'))).status, 504);
  t.equal(upstream.heads, 2);
});

t.test('a request whose client has left is not sent again', async (t) => {
  const held: Socket[] = [];
  const upstream = await startForgetful(t, (socket) => held.push(socket));
  const { call, finished, dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  t.equal((await call('GET', '/')).status, 200);
  const client = await dial(requestOf('GET', '/'));
  await eventually(() => held.length === 1);
  client.socket.destroy();
  await eventually(() => finished.length === 2);
  held[0]?.destroy();
  t.match(finished[1], { status: 499 });
  t.equal((await call('GET', '/')).status, 200);
  t.equal(upstream.heads, 3);
});
