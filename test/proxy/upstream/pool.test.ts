// class: pure
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import t from 'tap';
import type { AccountId } from '../../../src/domain/ids.ts';
import { Shares } from '../../../src/limits/shares.ts';
import { systemClock } from '../../../src/ports/clock.ts';
import { Pool } from '../../../src/proxy/upstream/pool.ts';
import type { ResponseHandler } from '../../../src/proxy/upstream/upstream-client.ts';
import { certificate } from '../../support/config-certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { startRawUpstream, startTcpUpstream, startUpstream } from '../../support/upstreams.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { rawResponse, ask, openConnections as open } from '../../support/upstream-client.ts';

t.test('no more connections than allowed; who waits is served in order', async (t) => {
  const order: string[] = [];
  const upstream = await startTcpUpstream(t, (socket, head) => {
    order.push(head.split(' ')[1] ?? '');
    setImmediate(() => socket.write(rawResponse('ok')));
  });
  const { connections } = open(t, upstream.url, { most: 1 });
  const targets = Array.from({ length: 50 }, (_, i) => `/${i}`);
  await Promise.all(targets.map((target) => ask(connections, target)));
  t.equal(upstream.connections, 1);
  t.strictSame(order, targets);
});

t.test('a connection is used again after a whole response, and after nothing else', async (t) => {
  let reply = '';
  const upstream = await startTcpUpstream(t, (socket) => socket.write(reply));
  for (const [what, text, again] of [
    ['a whole response', rawResponse('ok'), true],
    ['HTTP/1.0 that keeps it', rawResponse('ok', 'Connection: keep-alive\r\n').replace('1.1', '1.0'), true],
    ['HTTP/1.0', rawResponse('ok').replace('1.1', '1.0'), false],
    ['Connection: close', rawResponse('ok', 'Connection: close\r\n'), false],
    [
      'HTTP/1.0 that says both',
      rawResponse('ok', 'Connection: keep-alive, close\r\n').replace('1.1', '1.0'),
      false,
    ],
    ['bytes too many', `${rawResponse('ok')}x`, false],
    ['a second response', `${rawResponse('ok')}${rawResponse('forged')}`, false],
  ] as const) {
    const { connections } = open(t, upstream.url);
    reply = text;
    const before = upstream.connections;
    t.equal(await ask(connections), 'ok', what);
    // What follows in the same tick is part of the same read.
    await new Promise((resolve) => setImmediate(resolve));
    t.equal(await ask(connections), 'ok', what);
    t.equal(upstream.connections - before, again ? 1 : 2, what);
    connections.close();
  }
});

t.test('of idle connections the one that was used last is taken first', async (t) => {
  const asked = new Map<string, Socket>();
  const upstream = await startTcpUpstream(t, (socket, head) => {
    asked.set(head.split(' ')[1] ?? '', socket);
  });
  const { connections } = open(t, upstream.url);
  const pending = new Map(['/a', '/b', '/c'].map((target) => [target, ask(connections, target)]));
  await eventually(() => asked.size === 3);
  for (const target of ['/b', '/c', '/a']) {
    asked.get(target)?.write(rawResponse('ok'));
    await pending.get(target);
  }
  for (const [targets, before] of [
    [['/again'], ['/a']],
    [['/and-again'], ['/a']],
    [
      ['/one', '/two', '/three'],
      ['/a', '/c', '/b'],
    ],
  ] as const) {
    const all = targets.map((target) => ask(connections, target));
    await eventually(() => targets.every((target) => asked.has(target)));
    for (const [i, target] of targets.entries()) {
      t.equal(asked.get(target), asked.get(before[i] ?? ''), `${target} where ${before[i]} was`);
      asked.get(target)?.write(rawResponse('ok'));
    }
    await Promise.all(all);
  }
  t.equal(upstream.connections, 3);
});

t.test('bytes on an idle connection, or its end, end it', async (t) => {
  const sockets: Socket[] = [];
  const upstream = await startTcpUpstream(t, (socket) => {
    sockets.push(socket);
    socket.write(rawResponse('ok'));
  });
  for (const disturb of [
    (socket?: Socket) => socket?.write(rawResponse('forged')),
    (socket?: Socket) => socket?.end(),
  ]) {
    const { connections } = open(t, upstream.url);
    await ask(connections);
    const socket = sockets.at(-1);
    disturb(socket);
    await eventually(() => socket?.closed === true);
    const before = upstream.connections;
    t.equal(await ask(connections), 'ok');
    t.equal(upstream.connections, before + 1);
    connections.close();
  }
});

t.test('an idle connection is given up after 4 s, and 2 s before the upstream would', async (t) => {
  let extra = '';
  const upstream = await startTcpUpstream(t, (socket) => socket.write(rawResponse('ok', extra)));
  for (const [said, kept, lost] of [
    ['', 3_999, 4_000],
    ['Keep-Alive: timeout=5\r\n', 2_999, 3_000],
    ['Keep-Alive: max=9, timeout=60\r\n', 3_999, 4_000],
    ['Keep-Alive: timeout=2\r\n', null, 0],
  ] as const) {
    extra = said;
    const { connections, clock } = open(t, upstream.url);
    const before = upstream.connections;
    await ask(connections);
    if (kept !== null) {
      clock.nowMs += kept;
      await ask(connections);
      t.equal(upstream.connections, before + 1, said);
    }
    clock.nowMs += lost;
    await ask(connections);
    t.equal(upstream.connections, before + 2, said);
    connections.close();
  }
});

t.test('a connection that is refused fails one request that waits; closing fails all of them', async (t) => {
  const { connections } = open(t, `http://127.0.0.1:${await unusedPort()}`, { most: 2 });
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => ask(connections)));
  t.ok(results.every(({ status }) => status === 'rejected'));
  const silent = await startTcpUpstream(t, () => undefined);
  const to = open(t, silent.url, { most: 1 }).connections;
  const waiting = Promise.allSettled([ask(to), ask(to), ask(to)]);
  await eventually(() => silent.heads === 1);
  to.close();
  t.ok((await waiting).every(({ status }) => status === 'rejected'));
  await t.rejects(ask(to), /is closed/);
});

t.test('who has waited as long as a connection may take is forgotten, though all are taken', async (t) => {
  const silent = await startTcpUpstream(t, () => undefined);
  const { connections, clock } = open(t, silent.url, { most: 1, connectMs: 100 });
  const first = ask(connections);
  await eventually(() => silent.heads === 1);
  const second = ask(connections);
  clock.nowMs += 101;
  await t.rejects(second, /no connection became free in time/);
  connections.close();
  await t.rejects(first);
});

t.test('a request that cannot be written fails, and takes nothing with it', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.write(rawResponse('ok')));
  const { connections } = open(t, upstream.url, { most: 1 });
  for (let i = 0; i < 3; i++) await t.rejects(ask(connections, '/a b'), /not one line/);
  t.equal(await ask(connections), 'ok');
});

t.test('the last look at a decision comes when all that is to be written is ready', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.write(rawResponse('ok')));
  const { connections } = open(t, upstream.url, { most: 1 });
  let asked = 0;
  const sending = (): boolean => ++asked > 0;
  await t.rejects(ask(connections, '/a b', null, { sending }), /not one line/);
  t.equal(asked, 0);
  t.equal(await ask(connections, '/', null, { sending }), 'ok');
  t.equal(asked, 1);
});

t.test('five hundred that are given up leave room for the next', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.startsWith('GET /last')) socket.write(rawResponse('ok'));
  });
  const { connections } = open(t, upstream.url, { most: 4 });
  let aborted = 0;
  for (let i = 0; i < 500; i++) {
    void ask(connections, '/', null, {
      onInFlight: (inFlight) =>
        setImmediate(() => {
          aborted += 1;
          inFlight.abort();
        }),
    });
  }
  await eventually(() => aborted === 500);
  t.equal(await ask(connections, '/last'), 'ok');
});

t.test('localhost is reached at whichever of its addresses listens', async (t) => {
  const upstream = await startUpstream(t, (_request, response) => response.end('four'));
  t.equal(await ask(open(t, `http://localhost:${upstream.port}`).connections), 'four');
});

t.test('an address of IPv6', async (t) => {
  const server = createServer((socket) => socket.once('data', () => socket.write(rawResponse('six'))));
  const listening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(0, '::1', () => resolve(true));
  });
  if (!listening) return t.pass('this machine has none');
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const { connections } = open(t, `http://[::1]:${port}`);
  t.equal(await ask(connections), 'six');
  connections.close();
});

t.test('over TLS: a megabyte both ways, and the session is taken up again', async (t) => {
  const resumed: boolean[] = [];
  const server = createTlsServer(certificate.a, (request, response) => {
    response.setHeader('connection', 'close');
    request.pipe(response);
  });
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const { connections } = open(t, `https://localhost:${port}`);
  for (let i = 0; i < 3; i++) {
    const body = randomBytes(1024 * 1024);
    t.ok((await ask(connections, '/', body)) === body.toString('latin1'));
  }
  t.strictSame(resumed, [false, true, true]);
});

t.test('two hundred at once, each with its own bytes, of every length: none are mixed up', async (t) => {
  const digest = (body: Buffer | string): string =>
    createHash('sha256')
      .update(typeof body === 'string' ? Buffer.from(body, 'latin1') : body)
      .digest('hex');
  const upstream = await startRawUpstream(t, () => (request, response) => request.pipe(response));
  const { connections } = open(t, upstream.url, { most: 40 });
  const lengths = [1, 2047, 2048, 2049, 16_384, 65_535, 65_536, 65_537, 300_000, 1_048_576];
  const mixed = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const body = randomBytes(lengths[i % (i < 180 ? 9 : 10)] ?? 1);
      return digest(await ask(connections, '/', body)) !== digest(body);
    }),
  );
  t.equal(mixed.filter(Boolean).length, 0);
  t.ok(upstream.connections <= 40);
});

t.test('an attempt to connect whose request has left fails alone', (t) => {
  const attempts: ((made: Error) => void)[] = [];
  const pool = new Pool({
    connect: (_owner, done) => {
      attempts.push(done);
      return () => undefined;
    },
    most: 10,
    shares: new Shares(),
    connectMs: 5_000,
    ageMs: 1e9,
    clock: systemClock,
    report: (error) => t.error(error),
  });
  t.teardown(() => pool.close());
  const permit = { resolvedTenant: 'a', parentTenant: 'a' as AccountId };
  const request = {
    method: 'GET',
    target: '/',
    headers: [],
    body: null,
    admittedAs: { caller: null, permit },
  };
  const failed: string[] = [];
  const handlerOf = (name: string) =>
    ({ leaveQueue: null, onRefused: () => void failed.push(name) }) as unknown as ResponseHandler;
  const left = handlerOf('left');
  pool.send(request, left);
  left.leaveQueue?.();
  left.leaveQueue?.();
  pool.send(request, handlerOf('waiting'));
  t.equal(attempts.length, 2, 'the next request makes one of its own');
  attempts[0]?.(new Error('it took too long'));
  t.same(failed, []);
  attempts[1]?.(new Error('it took too long'));
  t.same(failed, ['waiting']);
  t.end();
});
