// class: app
import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, standstill, startGateway } from '../support/gateway.ts';
import { rawClient } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/upstreams.ts';

t.test('an event stream arrives as it is written', async (t) => {
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    response.socket?.once('tick', () => response.write('data: one\n\n'));
    response.socket?.once('tock', () => response.end('data: two\n\n'));
    sockets.push(response.socket);
  });
  const sockets: (NodeJS.EventEmitter | null)[] = [];
  const { dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestOf('GET', '/'));
  await client.until(() => client.text.includes('\r\n\r\n'));
  t.notMatch(client.text, /data/, 'the head comes first');
  sockets[0]?.emit('tick');
  await client.until(() => client.text.includes('data: one'));
  sockets[0]?.emit('tock');
  t.equal((await client.response()).body, 'data: one\n\ndata: two\n\n');
});

t.test('an event stream lives as long as it talks, and is cut when it falls silent', async (t) => {
  let events = 0;
  const time = new ManualTime();
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const stop = time.timers.every(100, () => {
      response.write(':\n');
      if (++events === 25) stop();
    });
  });
  const timeouts = { connectMs: 5000, headersMs: 5000, bodyMs: 1500 };
  const { finished, dial, requestOf } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, timeouts } },
    time,
  });
  const client = await dial(requestOf('GET', '/'));
  await time.until(client.end());
  t.equal(client.text.split(':\n\r\n').length, 26, 'all events, over a time longer than the limit');
  t.notMatch(client.text, /\r\n0\r\n\r\n$/, 'cut, not ended');
  await eventually(() => finished.length === 1, 'the record');
  t.equal(finished[0]?.code, 'cut_by_upstream');
});

t.test('a long response is not held in memory for a slow reader', async (t) => {
  const total = 64 * 1024 * 1024;
  const hash = createHash('sha256');
  let written = 0;
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(200, { 'content-length': total });
    const chunk = randomBytes(64 * 1024);
    const write = (): void => {
      while (written < total) {
        written += chunk.length;
        hash.update(chunk);
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    response.on('drain', write);
    write();
  });
  const { port, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  // By hand: the client keeps text, and this is too much of it.
  client.socket.removeAllListeners('data');
  const got = createHash('sha256');
  let [read, body] = [Buffer.alloc(0), 0];
  client.socket.pause();
  client.send(requestOf('GET', '/'));
  await standstill(() => written);
  t.ok(written < total / 2, `${written} bytes were taken from the upstream`);
  await new Promise<void>((resolve) => {
    client.socket.on('data', (chunk) => {
      if (body === 0) {
        read = Buffer.concat([read, chunk]);
        const end = read.indexOf('\r\n\r\n');
        if (end === -1) return;
        chunk = read.subarray(end + 4);
      }
      body += chunk.length;
      got.update(chunk);
      if (body === total) resolve();
    });
    client.socket.resume();
  });
  t.equal(got.digest('hex'), hash.digest('hex'));
});

t.test('a long body is not held in memory for a slow upstream', async (t) => {
  const total = 64 * 1024 * 1024;
  let resume: (() => void) | undefined;
  const upstream = await startRawUpstream(t, () => (request, response) => {
    let bytes = 0;
    resume = () => request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => response.end(String(bytes)));
  });
  const { dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestOf('POST', '/', [['Content-Length', String(total)]]));
  const chunk = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < total; sent += chunk.length) client.send(chunk);
  await standstill(() =>
    resume === undefined ? 0 : client.socket.bytesWritten - client.socket.writableLength,
  );
  t.ok(
    client.socket.writableLength > total / 2,
    `${client.socket.writableLength} bytes are still the client's`,
  );
  resume?.();
  t.equal((await client.response('POST')).body, String(total));
});
