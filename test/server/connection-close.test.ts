// class: app
import type { RequestListener } from 'node:http';
import t from 'tap';
import { drainingListener } from '../support/draining-listener.ts';
import { eventually } from '../support/eventually.ts';
import { requestText } from '../support/raw-client.ts';

const get = requestText('GET', '/');
const plan = { limitMs: 1_000_000, idleMs: 2_000 };

t.test('a response under way when it begins comes to its end, as the last one', async (t) => {
  const listener = await drainingListener(t);
  const client = await listener.connect();
  client.send(get);
  await eventually(() => listener.held.length === 1);
  const draining = listener.drain(plan);
  await listener.time.advance(10_000);
  listener.held[0]?.response.end('late');
  t.match(await client.response(), { body: 'late', headers: { connection: 'close' } });
  t.equal(await draining.cut, 0);
});

t.test('all pipelined requests that came in are answered; only the last response says `close`', async (t) => {
  const listener = await drainingListener(t);
  const [before, during] = [await listener.connect(), await listener.connect()];
  const three = ['/1', '/2', '/3'].map((path) => requestText('GET', path)).join('');
  before.send(three);
  await eventually(() => before.bytesRead() === three.length);
  const draining = listener.drain(plan);
  during.send(three);
  await eventually(() => during.bytesRead() === three.length);
  for (let n = 0; n < 6; n += 1) {
    await eventually(() => listener.held.length > n);
    listener.held[n]?.response.end(listener.held[n]?.request.url);
  }
  for (const path of ['/1', '/2', '/3']) {
    t.match(await before.response(), { body: path });
    const connection = path === '/3' ? 'close' : 'keep-alive';
    t.match(await during.response(), { body: path, headers: { connection } });
  }
  await during.end();
  await listener.time.advance(2_500);
  t.equal(await draining.cut, 0);
});

t.test('what comes behind the last response is not processed, and does not cut it off', async (t) => {
  const listener = await drainingListener(t);
  const client = await listener.connect();
  const draining = listener.drain(plan);
  client.send(get);
  await eventually(() => listener.held.length === 1);
  const [first] = listener.held;
  first?.response.writeHead(200, { 'content-length': 4 }).write('ha');
  const before = client.bytesRead();
  // More than the system takes at once: it still arrives when the response is out.
  client.send(requestText('POST', '/', [], 'y'.repeat(30_000_000)));
  await eventually(() => client.bytesRead() > before);
  first?.response.end('lf');
  t.match(await client.response(), { body: 'half', headers: { connection: 'close' } });
  await client.end();
  t.equal(client.broken(), undefined, 'no reset');
  await listener.time.advance(2_000);
  t.equal(await draining.cut, 0);
  t.equal(listener.held.length, 1);
});

t.test('a request that crosses with the end of its connection is not processed', async (t) => {
  const listener = await drainingListener(t);
  const client = await listener.connect();
  client.socket.allowHalfOpen = true;
  client.send(get);
  await eventually(() => listener.held.length === 1);
  listener.held[0]?.response.end('ok');
  await client.response();
  const draining = listener.drain(plan);
  await listener.time.advance(2_000);
  await eventually(() => client.socket.readableEnded);
  const before = client.bytesRead();
  client.send(get);
  await eventually(() => client.bytesRead() > before);
  t.equal(listener.held.length, 1);
  client.socket.end();
  t.equal(await draining.cut, 0);
});

t.test('a client of HTTP/1.0 that asked to keep its connection is told, too', async (t) => {
  const serve: RequestListener = (_request, response) => response.setHeader('content-length', 2).end('ok');
  const listener = await drainingListener(t, { serve });
  const client = await listener.connect();
  const old = 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n';
  const { headers } = await client.send(old).response();
  t.equal(headers['connection'], 'keep-alive');
  const draining = listener.drain(plan);
  t.match(await client.send(old).response(), { body: 'ok', headers: { connection: 'close' } });
  await client.end();
  await listener.time.advance(2_000);
  t.equal(await draining.cut, 0);
});

t.test('an upgrade behind the last response is not carried out', async (t) => {
  const listener = await drainingListener(t);
  const client = await listener.connect();
  const draining = listener.drain(plan);
  client.send(get);
  await eventually(() => listener.held.length === 1);
  listener.held[0]?.response.writeHead(200).write('told');
  const before = client.bytesRead();
  client.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  await eventually(() => client.bytesRead() > before);
  listener.held[0]?.response.end();
  await client.end();
  t.equal(listener.upgraded.length, 0);
  await listener.time.advance(2_000);
  t.equal(await draining.cut, 0);
});
