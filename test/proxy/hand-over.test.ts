// class: app
/** When a request counts, and what is certain when its first byte goes out. */
import t from 'tap';
import { HandOvers, type Departing } from '../../src/proxy/upstream/hand-overs.ts';
import { ActiveExchanges } from '../../src/proxy/active-exchanges.ts';
import { eventually, startGateway, startProxied } from '../support/gateway.ts';
import { startRawUpstream, startUpstream } from '../support/upstreams.ts';
import { unusedPort } from '../servers/unused-port.mjs';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

t.test('all that goes out in a turn is counted first, then written down once, then sent', async (t) => {
  const steps: string[] = [];
  const handOvers = new HandOvers({ commit: () => steps.push('commit') }, (error) => t.error(error));
  const departing = (name: string, wanted = true): Departing => ({
    mayStillSend: () => steps.push(`count ${name}`) > 0 && wanted,
    depart: () => steps.push(`send ${name}`),
    broke: () => steps.push(`end ${name}`),
  });
  handOvers.enter(departing('a'));
  handOvers.enter(departing('b', false));
  handOvers.enter(departing('c'));
  t.same(steps, [], 'not before the end of the turn');
  await new Promise(setImmediate);
  t.same(steps, ['count a', 'count b', 'count c', 'commit', 'send a', 'send c']);
  handOvers.enter(departing('d', false));
  await new Promise(setImmediate);
  t.same(steps.slice(6), ['count d'], 'nothing is written where nothing goes out');
});

t.test('a request counts when it goes out, whatever becomes of it, without our own bodies', async (t) => {
  const upstream = await startRawUpstream(t, () => (request) => {
    if (request.url === '/fails') request.socket.destroy();
  });
  const nothing = await unusedPort();
  const gateway = await startGateway(t, {
    routes: { '/': upstream.url, '/refused': `http://127.0.0.1:${nothing}` },
  });
  const { call, usage, dial, requestOf } = gateway;
  const client = await dial(requestOf('GET', '/'));
  await eventually(() => upstream.heads === 1, 'the request');
  t.match(usage, [{ kind: 'read', status: 0 }], 'it counts while it is under way');
  client.socket.destroy();
  await eventually(() => usage[0]?.status === 499, 'its end');
  t.equal((await call('POST', '/fails')).status, 502);
  t.equal((await call('GET', '/refused')).status, 502);
  t.match(usage.slice(1), [
    { kind: 'write', status: 502, bytesOut: 0 },
    { kind: 'read', status: 502, bytesOut: 0 },
  ]);
});

t.test('a request whose facts change in the turn in which it goes out is decided again', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { routes: { '/': upstream.url } });
  const { call, directory, parent, usage } = gateway;
  t.equal((await call('GET', '/')).status, 200);
  const decide = directory.decide.bind(directory);
  // Right behind the decision, as another connection may bring it in the same turn.
  directory.decide = (evaluate) => {
    const decision = decide(evaluate);
    directory.decide = decide;
    queueMicrotask(() => directory.revoke(parent.revoked));
    return decision;
  };
  t.equal((await call('GET', '/')).status, 401);
  t.equal(upstream.heads, 1, 'nothing went out');
  t.equal(usage.length, 1, 'and nothing was counted');
});

t.test('a lease that ends while the journal is written keeps the request back, uncounted', async (t) => {
  const { call, directory, usage } = await startProxied(t);
  t.equal((await call('GET', '/')).status, 200);
  let asked = 0;
  directory.mayAct = () => ++asked > 1;
  t.equal((await call('GET', '/')).status, 200, 'it is decided again');
  t.equal(asked, 2);
  t.equal(usage.length, 2);
});

t.test('a stream and a WebSocket say what has passed while they are open', async (t) => {
  const upstream = await startRawUpstream(t, () => (_request, response) => void response.write('some'));
  const sockets = await startWebSocketUpstream(t);
  const exchanges = new ActiveExchanges();
  const { port, parent, usage, dial, requestOf } = await startGateway(t, {
    routes: { '/': upstream.url, '/ws': sockets.url },
    exchanges,
  });
  const client = await dial(requestOf('GET', '/'));
  await client.until(() => client.text.includes('some'));
  const socket = await openWebSocket(t, port, '/ws', { authorization: `Bearer ${parent.key}` });
  socket.socket.send('hello');
  await eventually(() => socket.messages.length === 1, 'the echo');
  exchanges.noteBytes();
  exchanges.noteBytes();
  t.match(usage, [
    { status: 0, bytesOut: 4 },
    { status: 0, bytesIn: 5, bytesOut: 5 },
  ]);
});
