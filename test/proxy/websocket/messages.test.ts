// class: app
import { createHash } from 'node:crypto';
import t from 'tap';
import type { RawData } from 'ws';
import { eventually, standstill, startGateway } from '../../support/gateway.ts';
import { bearer, openEnds, openWebSocket, startWebSocketUpstream } from '../../support/websockets.ts';

/** Around every change of the form that a frame's length has (RFC 6455 §5.2). */
const sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 1024 * 1024];

for (const [client, perMessageDeflate] of [
  ['plain', false],
  ['compressed', { threshold: 0 }],
] as const) {
  t.test(`messages of every form of length come back as they were: ws, ${client}`, async (t) => {
    const upstream = await startWebSocketUpstream(t, undefined, { perMessageDeflate });
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    const options = { perMessageDeflate };
    const { socket } = await openWebSocket(t, port, '/', bearer(parent.key), [], options);
    t.equal(socket.extensions, perMessageDeflate ? 'permessage-deflate' : '');
    const back: string[] = [];
    socket.on('message', (data, isBinary) => back.push(summary(data as Buffer, isBinary)));
    const sent: string[] = [];
    for (const size of sizes) {
      for (const isBinary of [true, false]) {
        const data = content(size);
        sent.push(summary(data, isBinary));
        socket.send(data, { binary: isBinary });
      }
    }
    await eventually(() => back.length === sent.length, 'the echoes');
    t.same(back, sent);
  });
}

t.test('a thousand messages keep their order, and the WebSocket is counted once', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent, usage, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await openWebSocket(t, port, '/', bearer(parent.key));
  const sent = Array.from({ length: 1000 }, (_, i) => String(i));
  for (const message of sent) client.socket.send(message);
  await eventually(() => client.messages.length === sent.length, 'the echoes');
  t.same(client.messages, sent);
  client.socket.close();
  await eventually(() => finished.length === 1, 'the record');
  const bytes = sent.join('').length;
  const record = { status: 101, code: null, bytesIn: bytes, bytesOut: bytes, resolvedTenant: parent.id };
  t.match([finished, usage], [[record], [{ kind: 'read', status: 101, bytesIn: bytes }]]);
});

t.test('fragments stay fragments, and control frames go in between', async (t) => {
  const seen: string[] = [];
  const upstream = await startWebSocketUpstream(t, (socket) => {
    socket.on('message', (data: RawData) => {
      seen.push((data as Buffer).toString());
      socket.send('one ', { fin: false });
      socket.ping('amid');
      socket.send('', { fin: false });
      socket.send('message');
    });
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await openWebSocket(t, port, '/', bearer(parent.key));
  let pings = 0;
  client.socket.on('ping', () => (pings += 1));
  client.socket.send('frag', { fin: false });
  client.socket.ping();
  client.socket.send('ments', { fin: true });
  await eventually(() => client.messages.length === 1, 'the response');
  t.same(seen, ['fragments']);
  t.same(client.messages, ['one message']);
  t.equal(pings, 1);
});

t.test('pings and pongs keep their payload, both ways', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const { client, server } = await openEnds(t, upstream, port, parent.key);
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    for (const payload of ['', 'p', 'x'.repeat(125)]) {
      const pinged = new Promise<string>((resolve) => to.once('ping', (data) => resolve(data.toString())));
      const ponged = new Promise<string>((resolve) => from.once('pong', (data) => resolve(data.toString())));
      from.ping(payload);
      t.equal(await pinged, payload);
      t.equal(await ponged, payload);
    }
  }
});

for (const which of ['upstream', 'client'] as const)
  t.test(`what the ${which} does not read is not held in memory`, async (t) => {
    const upstream = await startWebSocketUpstream(t, () => undefined);
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    const { client, server } = await openEnds(t, upstream, port, parent.key);
    const [reader, sender] = which === 'client' ? [client, server] : [server, client];
    reader.pause();
    const message = Buffer.alloc(64 * 1024);
    const total = 512 * message.length;
    for (let i = 0; i < 512; i++) sender.send(message);
    await standstill(() => total - sender.bufferedAmount);
    t.ok(sender.bufferedAmount > total / 2, `${sender.bufferedAmount} bytes are still the sender's`);
    let read = 0;
    reader.on('message', () => (read += 1));
    reader.resume();
    await eventually(() => read === 512, 'the messages');
  });

/** Text in which every position looks different, so that a byte in the wrong place shows. */
function content(size: number): Buffer {
  const text = Array.from({ length: Math.ceil(size / 8) }, (_, i) => i.toString(36).padStart(8, '.')).join(
    '',
  );
  return Buffer.from(text.slice(0, size));
}

function summary(data: Buffer, isBinary: boolean): string {
  const digest = createHash('sha1').update(data).digest('hex').slice(0, 8);
  return `${isBinary ? 'binary' : 'text'} ${data.length} ${digest}`;
}
