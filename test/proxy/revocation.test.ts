// class: app
/** What becomes of streams and requests that are open when what they live by is withdrawn. */
import t from 'tap';
import { ProblemError } from '../../src/domain/problem.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { ActiveExchanges } from '../../src/proxy/active-exchanges.ts';
import { everythingThatFollows } from '../support/coherence/manual-time.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

t.test('an open stream ends with the key, the account, the parent or the target it lives by', async (t) => {
  let open = 0;
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    open += 1;
    response.on('close', () => (open -= 1));
    response.write('some');
  });
  const { port, parent, directory, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  const child = directory.addSubAccount(parent, 'child');
  const bystander = directory.addSubAccount(parent, 'bystander');
  const suspended = [
    parent.accountKey,
    { id: parent.id, parentId: null, externalId: null, status: 'suspended', limits: null, plan: null },
  ] as const;
  for (const [name, key, acting, change] of [
    ['its key', parent.key, 'self', parent.revoked],
    ['its target', parent.key, 'ext:child', child.deactivated],
    ['its own account', child.key, 'self', child.deactivated],
    ['its own key', child.key, 'self', child.revoked],
    ['its parent', child.key, 'self', suspended],
  ] as const) {
    const before = [change[0], directory.facts.get(change[0]) ?? null] as const;
    const headers = (key: string, acting: string): [string, string][] => [
      ['Authorization', `Bearer ${key}`],
      ['X-Service-Acting-Tenant', acting],
    ];
    const client = await rawClient(t, port);
    client.send(requestText('GET', '/', headers(key, acting)));
    await client.until(() => client.text.includes('some'));
    const other = await rawClient(t, port);
    other.send(requestText('GET', '/', headers(bystander.key, 'self')));
    await other.until(() => other.text.includes('some'));

    const ended = directory.revoke(change);
    // A suspended parent takes the other sub-account with it.
    t.equal(ended, name === 'its parent' ? 2 : 1, name);
    await client.end();
    t.equal(finished.filter(({ code }) => code === 'withdrawn').length, ended, name);
    finished.length = 0;
    other.socket.destroy();
    await eventually(() => open === 0, 'the end at the upstream');
    directory.facts.set(...before);
  }
});

t.test('an open stream ends when the key runs out', async (t) => {
  let now = 999;
  const upstream = await startRawUpstream(t, () => (_request, response) => void response.write('some'));
  const webSockets = await startWebSocketUpstream(t);
  const { port, parent, directory, finished } = await startGateway(t, {
    routes: { '/': upstream.url, '/ws': webSockets.url },
    limits: { bodyIdleMs: 400 },
    clock: { ...systemClock, wallMs: () => now },
  });
  const fact = directory.facts.get(parent.keyKey) as object;
  directory.facts.set(parent.keyKey, { ...fact, expiresAtMs: 1000 } as never);
  const client = await rawClient(t, port);
  client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
  await client.until(() => client.text.includes('some'));
  const socket = await openWebSocket(t, port, '/ws', { authorization: `Bearer ${parent.key}` });
  socket.socket.send('hello');
  await eventually(() => socket.messages.length === 1, 'the echo');
  now = 1000;
  await client.end();
  await eventually(() => socket.closed?.code === 4403, 'the close');
  t.match(finished, [{ code: 'withdrawn' }, { code: 'withdrawn' }]);
});

t.test(
  'an open stream ends at the expiry of its key as it stands, be it sooner or later than at first',
  async (t) => {
    let now = 0;
    const upstream = await startRawUpstream(t, () => (_request, response) => void response.write('some'));
    const webSockets = await startWebSocketUpstream(t);
    const { port, parent, directory, finished } = await startGateway(t, {
      routes: { '/': upstream.url, '/ws': webSockets.url },
      limits: { bodyIdleMs: 400 },
      clock: { ...systemClock, wallMs: () => now },
    });
    const open = async (key: string) => {
      const client = await rawClient(t, port);
      client.send(requestText('GET', '/', [['Authorization', `Bearer ${key}`]]));
      await client.until(() => client.text.includes('some'));
      const socket = await openWebSocket(t, port, '/ws', { authorization: `Bearer ${key}` });
      socket.socket.send('hello');
      await eventually(() => socket.messages.length === 1, 'the echo');
      return { client, socket };
    };
    const [sooner, later] = [parent, directory.addParent()];
    const [never, slow] = [directory.addParent(), directory.addParent()];
    directory.reschedule(later, 1000);
    directory.reschedule(never, 1000);
    directory.reschedule(slow, 500);
    const [first, second] = [await open(sooner.key), await open(later.key)];
    const [third, fourth] = [await open(never.key), await open(slow.key)];
    directory.reschedule(sooner, 500);
    // Its record is still being loaded when it was to expire.
    directory.late.add(slow.keyKey);
    directory.reschedule(slow, null);
    await eventually(() => directory.waiting === 2, 'the look-ups');
    // Its record cannot be loaded at first; then the stream asks again.
    directory.failure = new ProblemError({ code: 'unavailable', detail: '' });
    directory.reschedule(later, 2000);
    directory.reschedule(never, null);
    await everythingThatFollows();
    directory.failure = undefined;
    const before = directory.decisions;
    await eventually(() => directory.decisions >= before + 4, 'the second question');

    now = 500;
    await first.client.end();
    await eventually(() => first.socket.closed?.code === 4403, 'the close');
    directory.deliver();
    now = 1999;
    const still = await open(never.key);
    t.equal(finished.length, 2, 'the others go on');
    now = 2000;
    await second.client.end();
    await eventually(() => second.socket.closed?.code === 4403, 'the close');
    t.ok(finished.every(({ code }) => code === 'withdrawn'));
    for (const { client, socket } of [third, fourth, still]) {
      t.notOk(client.socket.destroyed);
      t.equal(socket.closed, null);
    }
  },
);

t.test('the key of an open stream is in use, for whom it acts as', async (t) => {
  const upstream = await startRawUpstream(t, () => (_request, response) => void response.write('some'));
  const exchanges = new ActiveExchanges();
  const gateway = await startGateway(t, { routes: { '/': upstream.url }, exchanges });
  const { port, parent, directory, touched, usage } = gateway;
  const child = directory.addSubAccount(parent, 'child');
  const client = await rawClient(t, port);
  const headers: [string, string][] = [
    ['Authorization', `Bearer ${parent.key}`],
    ['X-Service-Acting-Tenant', 'ext:child'],
  ];
  client.send(requestText('GET', '/', headers));
  await client.until(() => client.text.includes('some'));
  exchanges.noteUse();
  t.same(touched, [{ accountId: child.id, keyId: parent.keyId }]);
  t.equal(usage.length, 1, 'which counts nothing: the request was counted when it went out');
  client.socket.destroy();
  await eventually(() => gateway.finished.length === 1);
  exchanges.noteUse();
  t.equal(touched.length, 1);
});

t.test('all streams end when it is not known what was withdrawn', async (t) => {
  const upstream = await startRawUpstream(t, () => (_request, response) => void response.write('some'));
  const { port, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
  const clients = [await rawClient(t, port), await rawClient(t, port)];
  for (const client of clients) {
    client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
    await client.until(() => client.text.includes('some'));
  }
  t.equal(directory.forget(), 2);
  for (const client of clients) await client.end();
});

t.test('a request whose response has not begun is told that its effect is not known', async (t) => {
  const upstream = await startRawUpstream(t, () => () => undefined);
  const { port, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(requestText('POST', '/', [['Authorization', `Bearer ${parent.key}`]]));
  await eventually(() => upstream.heads === 1, 'the request');
  t.equal(directory.revoke(parent.revoked), 1);
  const response = await client.response('POST');
  t.equal(response.status, 503);
  t.equal(response.json().code, 'unavailable');
  t.match(response.json().detail, /not known/);
});
