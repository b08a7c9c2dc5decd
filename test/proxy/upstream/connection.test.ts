// class: pure
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import t from 'tap';
import type { BodySource } from '../../../src/proxy/upstream/message-head.ts';
import { eventually } from '../../support/eventually.ts';
import { startTcpUpstream } from '../../support/upstreams.ts';
import { rawResponse, ask, openConnections } from '../../support/upstream-client.ts';

t.test('a body that begins in the same read as the head is kept, whatever is read meanwhile', async (t) => {
  const asked = new Map<string, Socket>();
  const upstream = await startTcpUpstream(t, (socket, head) => {
    asked.set(head.split(' ')[1] ?? '', socket);
  });
  const { connections } = openConnections(t, upstream.url);
  for (const [first, rest] of [
    [1, 1],
    [1000, 0],
    [2048, 70_000],
    [60_000, 5_000],
    [300_000, 300_000],
  ] as const) {
    const body = randomBytes(first + rest).toString('latin1');
    const length = first + rest;
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`;
    let got = 0;
    const chunks: Buffer[] = [];
    const ended = ask(connections, '/long', null, {
      onBody: (chunk) => {
        got += chunk.length;
        return chunks.push(Buffer.from(chunk)) > 0;
      },
    });
    await eventually(() => asked.has('/long'));
    const socket = asked.get('/long');
    socket?.write(head + body.slice(0, first), 'latin1');
    await eventually(() => got === first);
    const other = ask(connections, '/other');
    await eventually(() => asked.has('/other'));
    asked.get('/other')?.write(rawResponse('z'.repeat(60_000)));
    t.equal(await other, 'z'.repeat(60_000));
    socket?.write(body.slice(first), 'latin1');
    await ended;
    t.ok(Buffer.concat(chunks).toString('latin1') === body, `${first} and ${rest} bytes`);
    asked.clear();
  }
});

t.test('a handler that throws at the end hears of it, and takes no other request with it', async (t) => {
  const late: Socket[] = [];
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.includes('/late')) late.push(socket);
    else if (head.includes('/until-close')) socket.end('HTTP/1.1 200 OK\r\n\r\nok');
    else socket.write(rawResponse('ok'));
  });
  const { connections } = openConnections(t, upstream.url, { most: 4 });
  const under = ask(connections, '/late');
  await eventually(() => late.length === 1);
  for (const target of ['/length', '/until-close']) {
    let failures = 0;
    const thrown = ask(connections, target, null, {
      onEnd: () => {
        throw new Error('a fault of the gateway');
      },
    }).catch((error: Error) => {
      failures += 1;
      return error.message;
    });
    const waiting = ask(connections, '/waiting');
    t.equal(await thrown, 'a fault of the gateway', target);
    t.equal(await waiting, 'ok');
    t.equal(failures, 1);
  }
  late[0]?.write(rawResponse('late'));
  t.equal(await under, 'late');
});

/** A body of which the first piece is handed over at once, and the rest never. */
function unfinished(length: number | undefined): BodySource {
  return { length, start: (sink) => void sink.write(Buffer.from('some')), resume: () => undefined };
}

t.test('a connection on which some of a request was not sent is never used for another', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.startsWith('POST')) socket.pause();
    socket.write(rawResponse(head.startsWith('POST') ? 'early' : 'ok'));
  });
  for (const [what, body] of [
    ['a length, and less than that', unfinished(1000)],
    ['chunks without the last one', unfinished(undefined)],
    // More than the system takes while the other end does not read.
    ['all of it said, and not all of it gone', Buffer.alloc(32 * 1024 * 1024, 'x')],
  ] as const) {
    const { connections } = openConnections(t, upstream.url, { most: 1 });
    const before = upstream.connections;
    t.equal(await ask(connections, '/', body), 'early', what);
    t.equal(await ask(connections), 'ok', what);
    t.equal(upstream.connections - before, 2, what);
    connections.close();
  }
});
