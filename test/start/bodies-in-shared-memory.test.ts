// class: app
/** Bodies pass through memory that is used again at once. Nobody gets bytes of another one. */
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { freeBytes } from '../../src/http/socket-bytes.ts';
import { standstill, startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startRawUpstream, startUpstream } from '../support/upstreams.ts';

/** A body that says which request it belongs to, in every 8 bytes. */
function bodyOf(number: number, bytes: number): string {
  return String(number)
    .padStart(8, '0')
    .repeat(Math.ceil(bytes / 8))
    .slice(0, bytes);
}

const bodySizes = {
  'short enough for one write': [1, 1023, 1024, 4097, 10_000, 16_000, 16_383, 16_384],
  longer: [16_385, 24_000, 30_000, 40_000],
};

for (const [kind, sizes] of Object.entries(bodySizes))
  t.test(`clients that read late get their own bodies, ${kind}`, async (t) => {
    const upstream = await startUpstream(t, ({ target }, response) => {
      const [, number = '', bytes = '', framing] = target.split('/');
      const body = bodyOf(Number(number), Number(bytes));
      if (framing === 'length') return void response.setHeader('content-length', body.length).end(body);
      response.write(body.slice(0, body.length / 2));
      response.end(body.slice(body.length / 2));
    });
    const { port, parent } = await startGateway(t, { routes: { '/': { upstream: upstream.url } } });
    const asked = Array.from({ length: kind === 'longer' ? 1_200 : 2_700 }, (_, number) => ({
      number,
      bytes: sizes[number % sizes.length] ?? 0,
      framing: number % 4 === 0 ? 'chunks' : 'length',
    }));
    const clients = await Promise.all(
      Array.from({ length: 3 }, async (_, index) => {
        const client = await rawClient(t, port);
        client.socket.pause();
        const own = asked.filter(({ number }) => number % 3 === index);
        for (const { number, bytes, framing } of own)
          client.send(
            requestText('GET', `/${number}/${bytes}/${framing}`, [['Authorization', `Bearer ${parent.key}`]]),
          );
        return { client, own };
      }),
    );
    // More than the operating system holds for a client that does not read.
    await standstill(() => upstream.received.length);
    for (const { client } of clients) client.socket.resume();
    let foreign = 0;
    for (const { client, own } of clients) {
      for (const { number, bytes } of own) {
        const { status, body } = await client.response();
        if (status !== 200 || body !== bodyOf(number, bytes)) foreign += 1;
      }
    }
    t.equal(foreign, 0);
  });

t.test('long uploads arrive as they were sent', async (t) => {
  const upstream = await startRawUpstream(t, () => (incoming, response) => {
    const hash = createHash('sha256');
    // Some read slowly, so that bytes wait in the gateway.
    incoming.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      if (incoming.url !== '/slow') return;
      incoming.pause();
      setImmediate(() => incoming.resume());
    });
    incoming.on('end', () => response.end(hash.digest('hex')));
  });
  const { port, parent } = await startGateway(t, { routes: { '/': { upstream: upstream.url } } });
  const pieces = Array.from({ length: 16 }, () => randomBytes(1024 * 1024));
  const wanted = createHash('sha256');
  for (const piece of pieces) wanted.update(piece);
  const sum = wanted.digest('hex');
  const upload = async (path: string, chunked: boolean): Promise<string> => {
    const headers = {
      authorization: `Bearer ${parent.key}`,
      ...(chunked ? {} : { 'content-length': String(16 * 1024 * 1024) }),
    };
    const outgoing = request({ port, path, method: 'POST', headers });
    const response = new Promise<string>((resolve, reject) => {
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => void buffer(incoming).then((body) => resolve(body.toString())));
    });
    for (const piece of pieces)
      if (!outgoing.write(piece)) await new Promise((go) => outgoing.once('drain', go));
    outgoing.end();
    return response;
  };
  for (const path of ['/fast', '/slow'])
    for (const chunked of [false, true])
      t.same(await Promise.all([1, 2, 3, 4].map(() => upload(path, chunked))), Array(4).fill(sum), path);
});

t.test(
  'memory of a large read is free at once, memory that others share is not',
  {
    skip:
      'transfer' in ArrayBuffer.prototype ? false : 'this Node.js frees memory only when it collects garbage',
  },
  async (t) => {
    const large = Buffer.allocUnsafeSlow(64 * 1024);
    freeBytes(large);
    t.equal(large.length, 0);
    const all = Buffer.alloc(64 * 1024, 'a');
    const [part, short] = [all.subarray(1), Buffer.from('short')];
    freeBytes(part);
    freeBytes(short);
    t.equal(part.length, 64 * 1024 - 1);
    t.equal(short.toString(), 'short');
  },
);
