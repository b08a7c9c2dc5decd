// class: app
import t from 'tap';
import type { ActiveExchange } from '../../src/proxy/active-exchanges.ts';
import { ActiveExchanges } from '../../src/proxy/active-exchanges.ts';
import { exchangeStates, type ExchangeState } from '../../src/proxy/exchange-states.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { startRawUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

/** Notes every state that an exchange goes through. */
class WatchedExchanges extends ActiveExchanges {
  readonly lives: ExchangeState[][] = [];

  override enter(exchange: ActiveExchange): void {
    const life: ExchangeState[] = ['deciding'];
    this.lives.push(life);
    Object.defineProperty(exchange, 'state', {
      get: () => life.at(-1),
      set: (state: ExchangeState) => life.push(state),
    });
    super.enter(exchange);
  }
}

t.test('exchanges go from state to state as their table says, and every state is met', async (t) => {
  const upstream = await startRawUpstream(t, () => (request, response) => {
    if (request.url === '/refused') return void request.socket.destroy();
    if (request.url === '/stream') return void response.write('more comes');
    request.resume().on('end', () => response.end('ok'));
  });
  const sockets = await startWebSocketUpstream(t);
  const exchanges = new WatchedExchanges();
  const { call, directory, parent, port } = await startGateway(t, {
    routes: { '/': upstream.url, '/ws': sockets.url },
    exchanges,
  });

  await call('GET', '/');
  await call('POST', '/', { body: 'small' });
  await call('POST', '/', { body: 'x'.repeat(100_000) });
  await call('GET', '/refused');
  await call('GET', '/', { key: null });
  directory.late.add(parent.keyKey);
  const late = call('GET', '/');
  await eventually(() => directory.waiting === 1);
  directory.deliver();
  await late;
  const socket = await openWebSocket(t, port, '/ws', { authorization: `Bearer ${parent.key}` });
  const stream = call('GET', '/stream').catch(() => undefined);
  await eventually(() => exchanges.lives.at(-1)?.at(-1) === 'responding');
  t.equal(directory.revoke(parent.revoked), 2);
  await eventually(() => socket.closed !== null);
  await stream;
  await eventually(() => exchanges.size === 0);

  const met = new Set(exchanges.lives.flat());
  t.same([...met].sort(), Object.keys(exchangeStates).sort());
  for (const life of exchanges.lives) {
    for (const [i, state] of life.entries()) {
      const next = life[i + 1];
      if (next !== undefined) t.ok(exchangeStates[state].next.includes(next), life.join(' → '));
    }
    t.equal(life.at(-1), 'finished');
  }
});
