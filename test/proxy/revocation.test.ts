// class: app
/** What becomes of streams and requests that are open when what they live by is withdrawn. */
import t from 'tap';
import { ProblemError } from '../../src/domain/problem.ts';
import { ActiveExchanges } from '../../src/proxy/active-exchanges.ts';
import { everythingThatFollows, ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import type { Holder } from '../support/memory-directory.ts';
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
  const { parent, directory, finished, dial } = await startGateway(t, { routes: { '/': upstream.url } });
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
    const client = await dial(requestText('GET', '/', headers(key, acting)));
    await client.until(() => client.text.includes('some'));
    const other = await dial(requestText('GET', '/', headers(bystander.key, 'self')));
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

t.test('an open stream ends at the expiry of its key as it stands, and not as it was at first', async (t) => {
  const time = new ManualTime();
  const inS = (seconds: number): number => time.clock.wallMs() + 1_000 * seconds;
  const upstream = await startRawUpstream(t, () => (_request, response) => void response.write('some'));
  const webSockets = await startWebSocketUpstream(t);
  const timeouts = { connectMs: 1e9, headersMs: 1e9, bodyMs: 0 };
  const { port, directory, finished, dial } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, timeouts }, '/ws': webSockets.url },
    time,
  });
  const open = async (holder: Holder) => {
    const client = await dial(requestText('GET', '/', [['Authorization', `Bearer ${holder.key}`]]));
    await client.until(() => client.text.includes('some'));
    const socket = await openWebSocket(t, port, '/ws', { authorization: `Bearer ${holder.key}` });
    socket.socket.send('hello');
    await eventually(() => socket.messages.length === 1, 'the echo');
    return { holder, client, socket };
  };
  const opened = async (expiresAtMs: number | null) => {
    const holder = directory.addParent();
    directory.reschedule(holder, expiresAtMs);
    return open(holder);
  };
  const usual = await opened(inS(10));
  const [sooner, later] = [await opened(null), await opened(inS(20))];
  const [never, slow] = [await opened(inS(20)), await opened(inS(10))];
  directory.reschedule(sooner.holder, inS(10));
  // Its record is still being loaded when it was to expire.
  directory.late.add(slow.holder.keyKey);
  directory.reschedule(slow.holder, null);
  await eventually(() => directory.waiting === 2, 'the look-ups');
  // Its record cannot be loaded at first; then the stream asks again.
  directory.failure = new ProblemError({ code: 'unavailable', detail: '' });
  directory.reschedule(later.holder, inS(30));
  directory.reschedule(never.holder, null);
  await everythingThatFollows();
  directory.failure = undefined;
  const before = directory.decisions;
  await time.advance(2_000);
  t.ok(directory.decisions >= before + 4, 'the second question');

  const end = async ({ client, socket }: Awaited<ReturnType<typeof open>>): Promise<void> => {
    await client.end();
    await eventually(() => socket.closed?.code === 4403, 'the close');
  };
  await time.advance(8_000);
  for (const each of [usual, sooner]) await end(each);
  directory.deliver();
  await time.advance(19_000);
  const still = await open(never.holder);
  t.equal(finished.length, 4, 'the others go on');
  await time.advance(1_000);
  await end(later);
  t.ok(finished.every(({ code }) => code === 'withdrawn'));
  for (const { client, socket } of [never, slow, still]) {
    t.notOk(client.socket.destroyed);
    t.equal(socket.closed, null);
  }
});

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
  const { port, directory, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const clients = [await rawClient(t, port), await rawClient(t, port)];
  for (const client of clients) {
    client.send(requestOf('GET', '/'));
    await client.until(() => client.text.includes('some'));
  }
  directory.forget();
  for (const client of clients) await client.end();
});

t.test('a request whose response has not begun is told that its effect is not known', async (t) => {
  const upstream = await startRawUpstream(t, () => () => undefined);
  const { parent, directory, dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestOf('POST', '/'));
  await eventually(() => upstream.heads === 1, 'the request');
  t.equal(directory.revoke(parent.revoked), 1);
  const response = await client.response('POST');
  t.match(response, { status: 503, code: 'unavailable' });
  t.match(response.json().detail, /not known/);
});
