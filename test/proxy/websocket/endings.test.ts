// class: app
import type { Socket } from 'node:net';
import t from 'tap';
import type { WebSocket } from 'ws';
import { ActiveExchanges } from '../../../src/proxy/active-exchanges.ts';
import { systemClock } from '../../../src/ports/clock.ts';
import { eventually, standstill, startGateway } from '../../support/gateway.ts';
import { requestText } from '../../support/raw-client.ts';
import { startTcpUpstream } from '../../support/upstreams.ts';
import {
  bearer,
  consent,
  handshake,
  openEnds,
  openWebSocket,
  rawWebSocket,
  startWebSocketUpstream,
} from '../../support/websockets.ts';

type Raw = WebSocket & { readonly _socket: Socket };

/** Ways to end a WebSocket, and what both ends see of it; 1005 stands for a close frame without a code. */
const ways: readonly (readonly [end: (socket: Raw) => unknown, code: number, reason?: string])[] = [
  [(socket) => socket.close(1000), 1000],
  [(socket) => socket.close(1000, 'done'), 1000, 'done'],
  [(socket) => socket.close(1001, 'going'), 1001, 'going'],
  [(socket) => socket.close(1008, 'policy'), 1008, 'policy'],
  [(socket) => socket.close(3000), 3000],
  [(socket) => socket.close(4999, 'x'.repeat(123)), 4999, 'x'.repeat(123)],
  [(socket) => socket.close(), 1005],
  [({ _socket }) => _socket.end(), 1006],
  [({ _socket }) => _socket.destroy(), 1006],
  [({ _socket }) => _socket.resetAndDestroy(), 1006],
];

for (const who of ['client', 'server'] as const) {
  t.test(`however one end closes, the other one sees the code and the reason: the ${who}`, async (t) => {
    const upstream = await startWebSocketUpstream(t);
    const { port, parent, finished } = await startGateway(t, { routes: { '/': upstream.url } });
    for (const [end, code, reason = ''] of ways) {
      const ends = await openEnds(t, upstream, port, parent.key);
      const seen = Promise.all([ending(ends.client), ending(ends.server)]);
      end(ends[who] as Raw);
      // The end that closes is told its own code by the other's response; ws responses none by none.
      const expected = { code, reason };
      t.same(await seen, [expected, expected], `${code} ${reason.slice(0, 10)}`);
    }
    await eventually(() => finished.length === ways.length, 'the records');
    t.ok(finished.every(({ status }) => status === 101));
    t.ok(finished.slice(0, 7).every(({ code }) => code === null));
  });

  t.test(`frames that break the rules are the other end's to check: from the ${who}`, async (t) => {
    const upstream = await startWebSocketUpstream(t);
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    for (const [name, frame, code] of [
      ['text that is not UTF-8', [0x81, 0x02, 0xc3, 0x28], 1007],
      ['a reserved bit', [0xb1, 0x01, 0x41], 1002],
      ['a reserved opcode', [0x83, 0x00], 1002],
      ['a close code that must not be sent', [0x88, 0x02, 0x03, 0xee], 1002],
    ] as const) {
      const ends = await openEnds(t, upstream, port, parent.key);
      ends.client.on('error', () => undefined);
      const told = ending(ends[who]);
      (ends[who] as Raw)._socket.write(Buffer.from(who === 'client' ? masked(frame) : frame));
      t.equal((await told).code, code, name);
    }
  });
}

t.test('what one end still says after the other has ended its half arrives', async (t) => {
  let server: Socket | undefined;
  const upstream = await startTcpUpstream(t, (socket) => {
    server = socket;
    socket.write(consent);
    socket.allowHalfOpen = true;
    socket.on('end', () => socket.end('\x81\x04last', 'latin1'));
  });
  const { port, parent, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawWebSocket(t, port, parent.key);
  client.socket.end();
  await client.end();
  t.ok(client.text.endsWith('\x81\x04last'));
  await eventually(() => server?.closed === true && finished.length === 1, 'the end');
});

t.test('an end that takes nothing for too long, or does not end when the other has, is cut', async (t) => {
  const sockets: Socket[] = [];
  const upstream = await startTcpUpstream(t, (socket) => {
    sockets.push(socket);
    socket.allowHalfOpen = true;
    socket.write(consent);
  });
  const exchanges = new ActiveExchanges();
  let now = 0;
  const { port, parent, finished } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { bodyIdleMs: 10_000 },
    clock: { ...systemClock, monotonicMs: () => now },
    exchanges,
  });
  const pass = (ms: number): void => {
    exchanges.check(now);
    now += ms;
    exchanges.check(now);
  };

  const silent = await rawWebSocket(t, port, parent.key);
  pass(1_000_000);
  t.equal(exchanges.size, 1, 'silence alone ends nothing');

  const deaf = await rawWebSocket(t, port, parent.key);
  const talking = sockets.at(-1) as Socket;
  deaf.socket.pause();
  await standstill(fill(talking));
  pass(9_000);
  t.equal(exchanges.size, 2);
  // TCP may have paused for longer than a standstill is looked for, with room left; it is full a little later then.
  await eventually(() => {
    pass(2_000);
    return exchanges.size === 1;
  }, 'the end of the one that reads nothing');

  const leaving = await rawWebSocket(t, port, parent.key);
  let ended = false;
  sockets.at(-1)?.once('end', () => (ended = true));
  leaving.socket.end();
  await eventually(() => ended, 'its end at the upstream');
  pass(9_000);
  t.equal(exchanges.size, 2);
  pass(2_000);
  t.equal(exchanges.size, 1);
  t.match(finished, [
    { status: 101, code: 'request_timeout' },
    { status: 101, code: 'request_timeout' },
  ]);

  sockets[0]?.write('\x81\x01x', 'latin1');
  await silent.until(() => silent.text.endsWith('\x81\x01x'));
});

t.test('a response without an upgrade is cut if its client takes nothing for too long', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n');
    fill(socket);
  });
  const exchanges = new ActiveExchanges();
  let now = 0;
  const timeouts = { connectMs: 5_000, headersMs: 5_000, bodyMs: 0 };
  const { parent, finished, dial } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, timeouts } },
    limits: { bodyIdleMs: 10_000, minBodyBytesPerMinute: 0 },
    clock: { ...systemClock, monotonicMs: () => now },
    exchanges,
  });
  const deaf = await dial(requestText('GET', '/', handshake(parent.key)));
  await deaf.until(() => deaf.text.startsWith('HTTP/1.1 200'));
  deaf.socket.pause();
  await eventually(() => {
    exchanges.check((now += 3_000));
    return exchanges.size === 0;
  }, 'the end of the one that reads nothing');
  t.match(finished, [{ status: 200, code: 'request_timeout' }]);
});

/** Writes as much as the other end lets it, and tells how much that was by now. */
function fill(socket: Socket): () => number {
  const piece = Buffer.alloc(64 * 1024);
  let taken = 0;
  const more = (): void => {
    do taken += piece.length;
    while (socket.write(piece));
  };
  socket.on('drain', more);
  more();
  return () => taken;
}

t.test('a client that leaves before the upstream responded leaves nothing behind', async (t) => {
  const sockets: Socket[] = [];
  const upstream = await startTcpUpstream(t, (socket) => sockets.push(socket));
  const { parent, finished, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestText('GET', '/', handshake(parent.key)));
  await eventually(() => sockets.length === 1, 'the handshake');
  client.socket.destroy();
  await eventually(() => finished.length === 1 && sockets[0]?.closed === true, 'the end');
  t.match(finished, [{ status: 499, code: 'client_gone' }]);
});

t.test('when the gateway goes away, WebSockets are told', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const exchanges = new ActiveExchanges();
  const { port, parent, finished } = await startGateway(t, { routes: { '/': upstream.url }, exchanges });
  const client = await openWebSocket(t, port, '/', bearer(parent.key));
  exchanges.goAway();
  await eventually(() => client.closed !== null, 'the close');
  t.equal(client.closed?.code, 1001);
  t.match(finished, [{ status: 101, code: null }]);
});

function ending(socket: WebSocket): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
}

/** The same frame as a client has to send it. */
function masked([first, length, ...payload]: readonly number[]): number[] {
  return [first ?? 0, (length ?? 0) | 0x80, 0, 0, 0, 0, ...payload];
}
