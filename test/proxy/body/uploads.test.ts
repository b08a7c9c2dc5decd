// class: app
import { randomBytes, randomInt } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import t from 'tap';
import { readRequests } from '../../e2e/fuzz/strict.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import { rawClient, type RawClient } from '../../support/raw-client.ts';
import type { Scope } from '../../support/servers.ts';

interface Noted {
  text: string;
  ended: boolean;
}

/** An upstream that notes every byte, and responds to each request once all of it is there. */
async function notingUpstream(t: Scope): Promise<{ url: string; noted: Noted[] }> {
  const noted: Noted[] = [];
  const server = createServer((socket) => {
    const connection = { text: '', ended: false };
    noted.push(connection);
    let responded = 0;
    socket.on('error', () => undefined).on('close', () => (connection.ended = true));
    socket.on('data', (chunk) => {
      connection.text += chunk.toString('latin1');
      for (const { length } = readRequests(connection.text).requests; responded < length; responded++)
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    t.teardown(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, noted };
}

/** In chunks of any size, with all that a sender may put around them. */
function oddChunks(body: string): string {
  let text = '';
  for (let at = 0; at < body.length;) {
    const size = Math.min(body.length - at, randomInt(1, 40_000));
    const digits = `${'0'.repeat(randomInt(3))}${size.toString(16).toUpperCase()}`;
    text += `${digits}${randomInt(2) ? ';forged="a b"' : ''}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return `${text}000;forged\r\nX-Forged: 1\r\nX-Service-Resolved-Tenant: forged\r\n\r\n`;
}

t.test('a chunked upload arrives whole, in chunks of the gateway’s own and without trailers', async (t) => {
  const upstream = await notingUpstream(t);
  const { port, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  // The gateway sends chunks only where it knows that they are understood.
  client.send(requestOf('GET', '/'));
  await client.response();
  const head = requestOf('POST', '/', { 'Transfer-Encoding': 'chunked', Trailer: 'X-Forged' });
  const bodies = [1, 16_384, 300_000].map((length) => randomBytes(length).toString('latin1'));
  for (const body of bodies) {
    const text = head + oddChunks(body);
    for (let at = 0; at < text.length;) {
      const size = randomInt(1, 30_000);
      client.send(text.slice(at, at + size));
      at += size;
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.equal((await client.response('POST')).status, 200);
  }
  const seen = upstream.noted.map(({ text }) => readRequests(text));
  t.strictSame(
    seen.map(({ rest }) => rest),
    seen.map(() => 'nothing'),
  );
  const requests = seen.flatMap(({ requests }) => requests).filter(({ method }) => method === 'POST');
  t.ok(requests.map(({ body }) => body).join('') === bodies.join(''), 'byte for byte, in their order');
  for (const { fields } of requests) {
    t.strictSame(
      fields.filter(([name]) => /^(?:content-length|transfer-encoding|trailer)$/.test(name)),
      [['transfer-encoding', 'chunked']],
    );
  }
  t.notOk(
    upstream.noted.some(({ text }) => /forged/i.test(text)),
    'neither extensions nor trailers',
  );
});

t.test('a body in the same read as its head arrives whole, and so does the request behind it', async (t) => {
  const upstream = await notingUpstream(t);
  const { dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const body = randomBytes(20_000).toString('latin1');
  const chunked = requestOf('POST', '/', [['Transfer-Encoding', 'chunked']]);
  for (const first of [
    requestOf('POST', '/', [], body.slice(0, 5)),
    requestOf('POST', '/', [], body),
    `${chunked}4\r\nbody\r\n0\r\n\r\n`,
    chunked + oddChunks(body),
  ]) {
    const client = await dial(first + requestOf('GET', '/behind'));
    t.equal((await client.response('POST')).status, 200);
    t.equal((await client.response()).status, 200);
    client.socket.destroy();
  }
  const requests = upstream.noted.flatMap(({ text }) => readRequests(text).requests);
  t.strictSame(
    requests
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => body.length)
      .sort((a, b) => a - b),
    [4, 5, 20_000, 20_000],
  );
  t.equal(requests.filter(({ target }) => target === '/behind').length, 4);
});

t.test('an upload that breaks off is cut at the upstream, never ended as if it were whole', async (t) => {
  const chunked = ['Transfer-Encoding', 'chunked'] as const;
  const wholeChunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  const reset = ({ socket }: RawClient): unknown => socket.resetAndDestroy();
  const close = ({ socket }: RawClient): unknown => socket.end();
  const malformed = (client: RawClient): unknown => client.send('no size\r\n0\r\n\r\n');
  for (const [what, framing, piece, breakOff] of [
    ['reset after a chunk', chunked, wholeChunk, reset],
    ['closed after a chunk', chunked, wholeChunk, close],
    ['malformed after a chunk', chunked, wholeChunk, malformed],
    ['reset in a chunk', chunked, `4000\r\n${'x'.repeat(200)}`, reset],
    ['closed in a chunk', chunked, `4000\r\n${'x'.repeat(200)}`, close],
    ['reset before its length', ['Content-Length', '100000'], 'x'.repeat(99_999), reset],
    ['closed before its length', ['Content-Length', '100000'], 'x'.repeat(99_999), close],
  ] as const) {
    const upstream = await notingUpstream(t);
    const { finished, dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
    const client = await dial(requestOf('POST', '/', [framing]) + piece);
    const sent = piece.replace(/[^x]/g, '').length;
    await eventually(() => upstream.noted[0]?.text.match(/x{100,}/)?.[0].length === sent, 'what was sent');
    breakOff(client);
    await eventually(() => upstream.noted[0]?.ended === true, 'the cut');
    const { rest, requests } = readRequests(upstream.noted[0]?.text ?? '');
    t.strictSame({ rest, requests }, { rest: 'partial', requests: [] }, what);
    await eventually(() => finished.length === 1, 'the record');
    t.match(finished[0], { status: 499, code: 'client_gone' }, what);
  }
});
