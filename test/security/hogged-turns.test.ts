// class: app
/**
 * A few clients and upstreams send as fast as they can: how much of it one turn of the event loop takes, in which nobody
 * else is served.
 */
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { hangUp } from '../../src/http/hang-up.ts';
import { noteWork, requestWork, restMeter, restsAfter, restsBefore } from '../../src/http/turn.ts';
import { Tunnel } from '../../src/proxy/websocket/tunnel.ts';
import { everythingThatFollows, ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';
import { pair } from '../support/socket-pair.ts';
import { ask, openConnections, openUndici } from '../support/upstream-client.ts';
import { startRawUpstream, startTcpUpstream } from '../support/upstreams.ts';
import { consent, handshake } from '../support/websockets.ts';

const nobody = (): void => undefined;
const senders = 8;
const read = 64 * 1024;
/** One read of each socket, and one more that Node keeps until its listener wants it. */
const mostReads = 2 * senders * read;

for (const [what, frame, most] of [
  ['empty frames', Buffer.from([0x82, 0x80, 1, 2, 3, 4]), mostReads],
  [
    'long frames',
    Buffer.concat([Buffer.from([0x82, 126, 0xff, 0]), Buffer.alloc(0xff00)]),
    2 ** 20 + mostReads,
  ],
] as const)
  for (const direction of ['in', 'out'] as const)
    t.test(`a turn passes on a bounded number of WebSocket frames: ${what}, ${direction}`, async (t) => {
      const sources: Socket[] = [];
      for (let i = 0; i < senders; i++) {
        const [near, far] = await pair(t);
        const [other, end] = await pair(t);
        end.resume();
        const [client, upstream] = direction === 'in' ? [near, other] : [other, near];
        const user = {
          countHeld: () => undefined,
          mayPass: () => true,
          onClosed: () => undefined,
          network: '',
          broke: (error: unknown) => t.error(error),
        };
        new Tunnel(client, upstream, 10_000, user).open(Buffer.alloc(0), Buffer.alloc(0));
        far.write(Buffer.alloc(Math.floor(4e6 / frame.length) * frame.length, frame));
        sources.push(near);
      }
      const passed = (): number => sources.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
      const highest = await mostInATurn(passed, senders * Math.floor(4e6 / frame.length) * frame.length);
      t.ok(highest <= most, `${highest} bytes in one turn`);
    });

for (const client of ['native', 'undici'] as const)
  t.test(`${client}: a turn passes on a bounded number of bytes of uploads`, async (t) => {
    const upstream = await startRawUpstream(t, () => (request) => void request.resume());
    const { port, requestOf, bytesRead } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, client } },
    });
    const body = Buffer.alloc(4_000_000);
    const head = requestOf('POST', '/', [['Content-Length', String(body.length + 1)]]);
    for (let i = 0; i < senders; i++) (await rawClient(t, port)).send(head).send(body);
    const highest = await mostInATurn(bytesRead, senders * (head.length + body.length));
    t.ok(highest <= 2 ** 20 + mostReads, `${highest} bytes in one turn`);
  });

t.test('what is discarded behind a refusal takes turns', async (t) => {
  const [near, far] = await pair(t);
  let [taken, counted] = [0, 0];
  for (let i = 0; i < 8; i++) far.write(Buffer.alloc(read), () => void (taken += 1));
  await eventually(() => taken >= 4, 'bytes that the system holds');
  const discarded = await new Promise<number>((resolve) => {
    // Sockets are read between the two, with other work done.
    setImmediate(() => {
      noteWork(2 ** 23, nobody);
      hangUp(near, { network: '', countHeld: () => void (counted += 1) });
      setImmediate(() => resolve(near.bytesRead));
    });
  });
  t.ok(discarded <= 2 * read, `${discarded} bytes in one turn`);
  t.ok(counted > 0, 'what waits counts as held');
});

for (const [client, open] of [
  ['native', async (t: Test, url: string) => openConnections(t, url).connections],
  ['undici', (t: Test, url: string) => openUndici(t, url)],
] as const)
  t.test(`${client}: a download rests in a turn with much work, and then takes a bounded part`, async (t) => {
    const body = Buffer.alloc(4_000_000);
    const upstream = await startTcpUpstream(t, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    const connections = await open(t, upstream.url);
    let [turn, over] = [0, false];
    const count = (): void => {
      turn += 1;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    const passed = new Map<number, number>();
    const onBody = (chunk: Buffer): boolean => {
      noteWork(2 ** 23, nobody);
      return passed.set(turn, (passed.get(turn) ?? 0) + chunk.length) === passed;
    };
    await ask(connections, '/', null, { onBody });
    over = true;
    const [first, ...then] = passed.values();
    t.ok(first !== undefined && first <= read, `${first} bytes in the first turn`);
    t.ok(Math.max(...then) <= 2 ** 20 + 4 * read, `${Math.max(...then)} bytes in a later turn`);
  });

t.test('a turn writes a bounded number of bytes of documents', async (t) => {
  const gateway = await startGateway(t, { routes: {} });
  const peers: Socket[] = [];
  gateway.server.on('connection', (socket: Socket) => peers.push(socket));
  const page = requestText('GET', '/v1/sub-accounts/docs');
  const { body } = await (await rawClient(t, gateway.port)).send(page).response();
  const clients: RawClient[] = [];
  for (let i = 0; i < 8 * senders; i++) clients.push(await rawClient(t, gateway.port));
  // In a turn that takes long there would be room for less.
  const nowMs = performance.now();
  t.intercept(performance, 'now', { value: () => nowMs });
  for (const each of clients) each.send(page);
  const written = (): number => peers.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  const highest = await mostInATurn(written, (1 + clients.length) * body.length, 0);
  t.ok(highest <= 2 ** 23 + mostReads, `${highest} bytes in one turn`);
});

t.test('pieces rest however small they are, such as those of TLS', (t) => {
  noteWork(2 ** 23, nobody);
  t.ok(restsAfter(1, nobody, { network: '' }));
  t.end();
});

t.test('uploads in chunks of a byte take turns', async (t) => {
  const upstream = await startRawUpstream(t, () => (request) => void request.resume());
  const { port, requestOf, bytesRead } = await startGateway(t, { routes: { '/': upstream.url } });
  const body = Buffer.from('1\r\nx\r\n'.repeat(100_000));
  const head = requestOf('POST', '/', [['Transfer-Encoding', 'chunked']]);
  for (let i = 0; i < senders; i++) (await rawClient(t, port)).send(head).send(body);
  const end = senders * (head.length + body.length);
  const turns = await growthInTurns(bytesRead, end);
  const long = turns.filter((bytes) => bytes > (senders / 2) * read).length;
  t.ok(long <= 2, `${long} turns read more than half of the sockets`);
});

t.test('networks have their turns one after the other', async (t) => {
  const rests = restMeter();
  t.teardown(rests.stop);
  const served: string[] = [];
  /** Requests of one connection, all of which have arrived. */
  const pipeline = (network: string, left: number): (() => void) => {
    const goOn = (): void => {
      while (left > 0 && !restsBefore(requestWork, goOn, { network })) {
        noteWork(requestWork, goOn);
        served.push(network);
        left -= 1;
      }
    };
    return goOn;
  };
  noteWork(2 ** 23, nobody);
  pipeline('of many', 500)();
  pipeline('of one', 1)();
  await eventually(() => served.length === 501, 'all');
  t.ok(served.indexOf('of one') < 2, `it is ${served.indexOf('of one')} others later`);
  t.ok(rests.read() > 0, 'shedding knows that they waited');
});

t.test('work that takes long, as small segments do, leaves less room in a turn', async (t) => {
  let nowMs = 0;
  t.intercept(performance, 'now', { value: () => nowMs });
  const turns: number[] = [];
  const goOn = (): void => {
    const beganMs = nowMs;
    while (nowMs < 500 && !restsAfter(read, goOn, { network: '' })) nowMs += 1;
    turns.push(nowMs - beganMs);
  };
  goOn();
  await eventually(() => nowMs === 500, 'all');
  t.ok(Math.max(...turns.slice(2)) <= 16, `${turns.join()} ms`);
});

t.test('those who come in each turn do not keep the others waiting', async (t) => {
  const [near, far] = await pair(t);
  let [rests, isOver] = [false, false];
  near.on('data', () => {
    noteWork(2 ** 23, nobody);
    rests ||= restsBefore(requestWork, () => void (isOver = true), { network: 'other' });
    if (!isOver) far.write('x');
  });
  far.write('x');
  await eventually(() => isOver, 'a turn of its own');
});

t.test('while time is short, WebSockets of one parent wait, and requests of others are served', async (t) => {
  const frames = Buffer.alloc(
    16 * 0xff04,
    Buffer.concat([Buffer.from([0x82, 126, 0xff, 0]), Buffer.alloc(0xff00)]),
  );
  const upstream = await startTcpUpstream(t, (socket, head) => {
    const isRequest = head.startsWith('GET /now');
    if (!isRequest) socket.removeAllListeners('data').resume();
    socket.write(isRequest ? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' : consent);
  });
  const time = new ManualTime();
  let before = 0;
  const gateway = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { maxEventLoopDelayMs: 1_000 },
    time,
    pressure: () => {
      const read = gateway.bytesRead() - before;
      before += read;
      return { delayMs: read > 1e6 ? 2_000 : 0, heapBytes: 0, memoryBytes: 0 };
    },
  });
  const hog = gateway.directory.addParent();
  const clients: RawClient[] = [];
  for (let i = 0; i < senders; i++)
    clients.push(await gateway.dial(requestText('GET', '/w', handshake(hog.key))));
  for (const each of clients) await each.until(() => each.text.includes('\r\n\r\n'));
  const settled = async (): Promise<void> => {
    for (let still = 0, last = -1; still < 50; still += 1) {
      if (gateway.bytesRead() !== last) still = 0;
      last = gateway.bytesRead();
      await everythingThatFollows();
    }
  };
  const read: number[] = [];
  for (let window = 0; window < 10; window++) {
    const start = gateway.bytesRead();
    for (const each of clients) each.send(frames);
    await settled();
    for (let i = 0; i < 10; i++) t.equal((await gateway.call('GET', '/now')).status, 200);
    await time.advance(1_000);
    read.push(gateway.bytesRead() - start);
  }
  t.ok(Math.min(...read) < 4e6, `half of what was sent: ${read.join()}`);
  t.ok(Math.max(...read) > 8e6, 'they go on');
});

/** The most by which `progress` grows in a turn of the event loop, until it is at `end`. */
async function mostInATurn(progress: () => number, end: number, others?: number): Promise<number> {
  return Math.max(...(await growthInTurns(progress, end, others)));
}

/** By how much `progress` grows in each turn of the event loop, until it is at `end`. `others` is other work in a turn. */
async function growthInTurns(progress: () => number, end: number, others = 7 * 2 ** 20): Promise<number[]> {
  const turns: number[] = [];
  let [before, over] = [progress(), false];
  const look = (): void => {
    const now = progress();
    if (now > before) turns.push(now - before);
    before = now;
    restsAfter(others, nobody, { network: 'other' });
    if (!over) setImmediate(look);
  };
  setImmediate(look);
  await eventually(() => progress() >= end, 'everything');
  over = true;
  return turns;
}
