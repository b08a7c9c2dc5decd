// class: app
/** A client's connection, as its requests and responses see it: what becomes of them when clients or services break off. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { ClientRequest, ClientResponse } from '../../src/http/client-request.ts';
import { RequestBody } from '../../src/proxy/body/request-body.ts';
import { noteWork } from '../../src/http/turn.ts';
import type { ClientConnection } from '../../src/server/client-connection.ts';
import { createListener } from '../../src/server/listener.ts';
import { everythingThatFollows, ManualTime } from '../support/coherence/manual-time.ts';
import { eventually } from '../support/eventually.ts';
import { defaultLimits, standstill, startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

type Serve = (request: ClientRequest, response: ClientResponse) => void;

/** Starts a listener. */
async function listener(t: Test, serve: Serve, time?: ManualTime) {
  const broke = (error: unknown) => t.error(error);
  const application = {
    request: serve,
    rawProblem: () => '',
    addressOf: () => '',
    isTrusted: () => false,
    broke,
  };
  const { server, connections } = createListener(application, defaultLimits, null, time?.clock, time?.timers);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const { socket } of connections) socket.destroy();
  });
  return { connections, port: (server.address() as AddressInfo).port };
}

/** Starts a listener, and connects to it. */
async function served(t: Test, serve: Serve): Promise<Socket> {
  const client = connect((await listener(t, serve)).port, '127.0.0.1');
  client.on('error', () => undefined);
  t.teardown(() => client.destroy());
  await once(client, 'connect');
  return client.setNoDelay(true);
}

t.test('a response that its client did not take is not whole, and nothing behind it is served', async (t) => {
  const log: string[] = [];
  const client = await served(t, (request, response) => {
    log.push(`served ${request.url}`);
    response.onClose = (isWhole) => log.push(`${request.url} ${isWhole ? 'whole' : 'cut'}`);
    response.send(200, 'OK', [], 20_000_000, 'y'.repeat(20_000_000));
  });
  client.pause();
  client.write(requestText('GET', '/1') + requestText('POST', '/2'));
  await eventually(() => log.length === 1);
  client.resetAndDestroy();
  await eventually(() => log.length === 2);
  await everythingThatFollows();
  t.same(log, ['served /1', '/1 cut']);
});

t.test('many connections leave turns to others', async (t) => {
  let all = 0;
  const { port, connections } = await listener(t, (_request, response) => {
    all += 1;
    response.send(200, 'OK', [], 2, 'ok');
  });
  const clients = await Promise.all(Array.from({ length: 40 }, () => rawClient(t, port)));
  await eventually(() => connections.size === clients.length);
  // As if all of them were read in one turn.
  for (const { socket } of connections) socket.emit('data', Buffer.from(requestText('GET', '/').repeat(32)));
  t.ok(all > 50 && all <= 128, `${all} in a turn`);
  for (const client of clients) for (let n = 0; n < 32; n += 1) await client.response();
  t.equal(all, 40 * 32);
});

t.test('a request that waits for a turn is not late', async (t) => {
  const { port, connections } = await listener(t, (_request, response) =>
    response.send(200, 'OK', [], 2, 'ok'),
  );
  const client = await rawClient(t, port);
  await eventually(() => connections.size === 1);
  const [connection] = connections;
  connection?.check(0);
  noteWork(2 ** 23, () => undefined);
  connection?.socket.emit('data', Buffer.from(requestText('GET', '/')));
  t.equal(connection?.use, 'stranger', 'it counts as a request');
  connection?.check(Number.MAX_SAFE_INTEGER);
  t.equal((await client.response()).status, 200);
});

t.test('who reads what the gateway itself sends too slowly is cut, and nobody who has to wait', async (t) => {
  const text = 'x'.repeat(8_000_000);
  const whole: Serve = (_, response) => response.send(200, 'OK', [], text.length, text);
  const byNode: Serve = (request) => request.serveByNode((_, response) => response.end(text));
  for (const [what, serve, bytes, lasts] of [
    ['reads nothing', whole, 0, 12],
    ['reads nothing of what Node writes', byNode, 0, 12],
    ['reads 4,800 bytes a minute', whole, 400, 61],
    ['reads 4,800 bytes a minute of what Node writes', byNode, 400, 61],
    ['reads 6,000 bytes a minute', whole, 500, 200],
    ['has nothing to read yet', () => undefined, 0, 200],
  ] as const) {
    const time = new ManualTime();
    const { port, connections } = await listener(t, serve, time);
    const client = await rawClient(t, port);
    client.socket.pause();
    client.send(requestText('GET', '/'));
    await eventually(() => [...connections][0]?.isIdle === false);
    const { socket } = [...connections][0] as ClientConnection;
    await standstill(() => 1 + socket.bytesWritten);
    let [taken, seconds] = [0, 0];
    // The operating system takes bytes in larger pieces.
    Object.defineProperty(socket, 'bytesWritten', { get: () => socket.writableLength + taken });
    for (; seconds < 200 && !socket.destroyed; seconds++, taken += bytes / 5) await time.advance(1_000);
    t.equal(seconds, lasts, what);
  }
});

t.test('what Node serves is answered although its client sends no more, if all of it is there', async (t) => {
  for (const [name, text, isAnswered] of [
    ['whole', requestText('POST', '/', [], 'body'), true],
    ['half a body', requestText('POST', '/', [], 'body').slice(0, -1), false],
  ] as const) {
    const held: ServerResponse[] = [];
    const sockets: Socket[] = [];
    const client = await served(t, (request) => {
      sockets.push(request.socket);
      request.serveByNode((_message, response) => held.push(response));
    });
    let received = '';
    client.on('data', (chunk) => (received += String(chunk)));
    client.end(text);
    await eventually(() => held.length === 1 && sockets[0]?.readableEnded === true);
    held[0]?.end('done');
    await eventually(() => client.closed);
    t.match(received, isAnswered ? /^HTTP\/1.1 200 [^]*\r\nConnection: close\r\n[^]*done$/ : /^$/, name);
  }
});

t.test('a write behind the end of a connection comes to nothing', async (t) => {
  let written = false;
  const client = await served(t, (request, response) => {
    response.begin(200, 'OK', ['x', 'y'.repeat(5_000_000)], undefined);
    request.socket.destroy();
    response.write(Buffer.from('x'), false);
    written = true;
  });
  client.pause();
  client.write(requestText('GET', '/'));
  await eventually(() => written);
  await new Promise((resolve) => setTimeout(resolve, 10));
  t.pass('the event loop goes on');
});

t.test('the next request is served once the call that sent the previous response has returned', async (t) => {
  const log: string[] = [];
  const client = await served(t, (request, response) => {
    log.push(`served ${request.url}`);
    setImmediate(() => {
      response.send(200, 'OK', [], 2, 'ok');
      log.push(`returned ${request.url}`);
    });
  });
  client.write(requestText('POST', '/1', [], 'body') + requestText('GET', '/2'));
  await eventually(() => log.length === 4);
  t.same(log, ['served /1', 'returned /1', 'served /2', 'returned /2']);
});

t.test('bytes of a body stay as they are while the next request of the same read is served', async (t) => {
  const kept: Buffer[] = [];
  const responded: string[] = [];
  const client = await served(t, (request, response) => {
    const respond = (): void => {
      response.send(200, 'OK', [], 2, 'ok');
      responded.push(request.url);
    };
    if (request.url === '/2') return respond();
    request.readBody({ onBytes: (chunk) => kept.push(chunk), onBodyEnd: respond, hasPassedOn: false });
  });
  const [first, second] = ['1', '2'].map((name) => {
    const body = name.repeat(20_000);
    return requestText('POST', `/${name}`, [['Content-Length', '20000']], body);
  });
  client.write(`${first}${second}`);
  await eventually(() => responded.length === 2);
  t.equal(Buffer.concat(kept).toString(), '1'.repeat(20_000));
});

t.test('a body whose pieces came before they were wanted is handed over whole', async (t) => {
  let got = '';
  let ended = false;
  const client = await served(t, (request) => {
    const owner = {
      mayPass: () => true,
      onBuffered: () => t.fail('it is not held'),
      onNotHeld: () => t.fail('it is not held'),
      broke: (error: unknown) => t.error(error),
    };
    const streamed = new RequestBody(request, request.bodyLength, owner);
    const write = (chunk: Buffer) => (got += chunk.toString()) !== '';
    const sink = { write, end: () => void (ended = true), hasSentAll: true };
    // The three pieces have arrived by then.
    void eventually(() => request.socket.bytesRead === length).then(() => streamed.start(sink));
  });
  const head = requestText('POST', '/', [['Content-Length', '15']]);
  const length = head.length + 15;
  for (const piece of [`${head}first`, 'secon', 'third']) {
    client.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await eventually(() => ended);
  t.equal(got, 'firstseconthird');
});

t.test('a response to a slow client holds no byte of a response to another one', async (t) => {
  const [piece, pieces] = [60_000, 200];
  const upstream = await startTcpUpstream(t, (socket, head) => {
    const of = /^GET \/x\/(\w+)/.exec(head)?.[1];
    if (of === 'warm') setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'), 100);
    else if (of === 'b')
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 120000\r\n\r\n${'b'.repeat(120_000)}`);
    else void send(socket);
  });
  let sent = false;
  async function send(socket: Socket): Promise<void> {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${piece * pieces}\r\n\r\n`);
    for (let n = 0; n < pieces; n += 1) {
      socket.write(Buffer.alloc(piece, 'a'));
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    sent = true;
  }
  const gateway = await startGateway(t, { routes: { '/x': upstream.url } });
  const get = (path: string): string => gateway.requestOf('GET', path);
  const [slow, other] = [await rawClient(t, gateway.port), await rawClient(t, gateway.port)];
  // Two connections to the upstream are open from here on.
  for (const client of [slow, other]) client.send(get('/x/warm'));
  for (const client of [slow, other]) await client.response();
  slow.socket.pause();
  slow.send(get('/x/a'));
  await eventually(() => sent);
  for (let n = 0; n < 3; n += 1)
    t.equal((await other.send(get('/x/b')).response()).body, 'b'.repeat(120_000));
  slow.socket.resume();
  const { body } = await slow.response();
  t.equal(body.length, piece * pieces);
  t.equal(body.replace(/a+/g, ''), '');
});

t.test('of a body in tiny chunks, one read of the socket is taken in a turn of the event loop', async (t) => {
  let bytes = 0;
  let most = 0;
  let before = 0;
  let over = false;
  const count = (): void => {
    most = Math.max(most, bytes - before);
    before = bytes;
    if (!over) setImmediate(count);
  };
  const client = await served(t, (request, response) => {
    request.readBody({
      onBytes: (piece) => void (bytes += piece.length),
      onBodyEnd: () => response.send(200, 'OK', [], 0, ''),
      hasPassedOn: true,
    });
    setImmediate(count);
  });
  const chunks = 500_000;
  client.write(requestText('POST', '/', [['Transfer-Encoding', 'chunked']]));
  client.write(`${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`);
  await once(client, 'data');
  over = true;
  t.equal(bytes, chunks);
  t.ok(most <= (2 * (64 * 1024)) / 6, `${most} in one turn`);
});

t.test('nothing is read again behind a fault in a body of many chunks', async (t) => {
  const log: string[] = [];
  const client = await served(t, (request, response) => {
    response.onClose = () => void log.push('closed');
    response.begin(200, 'OK', [], undefined);
    request.readBody({
      onBytes: ({ length }) => void log.push(`${length} bytes`),
      onBodyEnd: () => void log.push('the end'),
      hasPassedOn: true,
    });
  });
  const head = requestText('POST', '/', [['Transfer-Encoding', 'chunked']]);
  // Moved together, the contents look like the end of a body.
  const contents = [...'x\r\n0\r\n\r\n', ...'x'.repeat(1_000)];
  client.write(`${head}${contents.map((content) => `1\r\n${content}\r\n`).join('')}no size\r\n`);
  await eventually(() => log.includes('closed'));
  t.same(log, ['closed']);
});

t.test('a client that ends behind many pipelined requests gets all responses', async (t) => {
  const client = await served(t, (_request, response) => response.send(204, 'OK', [], undefined, ''));
  let text = '';
  client.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
  client.end(requestText('GET', '/').repeat(100));
  await once(client, 'end');
  t.equal(text.split('HTTP/1.1 204').length - 1, 100);
});
