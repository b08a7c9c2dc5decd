// class: app
import { setImmediate, setTimeout } from 'node:timers/promises';
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, standstill, startGateway, startProxied } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/upstreams.ts';

const limits = { bodyIdleMs: 200 };
/** In milliseconds; less than other limits on bodies take. */
const soon = 20_000;

for (const [what, length, heads] of [
  ['a long one, on both sides', 100_000, 1],
  ['a short one, before the upstream hears of it', 100, 0],
] as const)
  t.test(`a body that stops coming is given up: ${what}`, async (t) => {
    let aborted = 0;
    const upstream = await startRawUpstream(t, () => (request) => {
      request.on('error', () => undefined).on('close', () => (aborted += request.complete ? 0 : 1));
      request.resume();
    });
    const time = new ManualTime();
    const gateway = await startGateway(t, { routes: { '/': upstream.url }, limits, time });
    const { dial, requestOf, bytesRead, finished } = gateway;
    const text = `${requestOf('POST', '/', [['Content-Length', String(length)]])}some`;
    const client = await dial(text);
    await eventually(() => bytesRead() === text.length && upstream.heads === heads, 'the request');
    t.match(await time.until(client.response('POST'), soon), { status: 408, code: 'request_timeout' });
    await eventually(() => aborted === heads, 'the end of the upstream request');
    t.match(finished, [{ status: 408, code: 'request_timeout', bytesIn: 4 }]);
    t.equal(upstream.heads, heads);
  });

t.test('a body that keeps coming is not, even if it takes long', async (t) => {
  const time = new ManualTime();
  const { upstream, dial, requestOf, bytesRead } = await startProxied(t, { limits, time });
  const client = await dial('');
  for (const length of [20, 20_000]) {
    for (const piece of [
      requestOf('POST', '/', [['Content-Length', String(length)]]),
      ...Array<string>(20).fill('x'.repeat(length / 20)),
    ]) {
      const read = bytesRead() + piece.length;
      client.send(piece);
      await eventually(() => bytesRead() === read, 'the piece');
      await time.advance(limits.bodyIdleMs / 2);
    }
    t.equal((await client.response('POST')).status, 200);
    t.equal(upstream.received.at(-1)?.body.length, length);
  }
});

t.test('nor is one that came in time while the gateway stood still', async (t) => {
  const bodyIdleMs = 3_000;
  const { upstream, dial, requestOf } = await startProxied(t, { limits: { bodyIdleMs } });
  const client = await dial(requestOf('POST', '/', [['Content-Length', '200000']]));
  client.send('x'.repeat(100_000));
  await eventually(() => upstream.heads === 1, 'the request');
  // It has been looked at once before, and after the stall timers run before anything is read.
  await setTimeout(bodyIdleMs / 2);
  await setImmediate();
  client.send('x'.repeat(100_000));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, bodyIdleMs + 500);
  t.equal((await client.response('POST')).status, 200);
  t.equal(upstream.received.at(-1)?.body.length, 200_000);
});

t.test('a client that does not read its response is given up, on both sides', async (t) => {
  let [closed, written] = [false, 0];
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.on('close', () => (closed = true));
    const chunk = Buffer.alloc(64 * 1024);
    const write = (): void => {
      do written += chunk.length;
      while (!closed && response.write(chunk));
    };
    response.on('drain', write);
    write();
  });
  const time = new ManualTime();
  const gateway = await startGateway(t, { routes: { '/': upstream.url }, limits, time });
  const client = await gateway.dial(gateway.requestOf('GET', '/'));
  await client.until(() => client.text.length > 0);
  client.socket.pause();
  await standstill(() => written);
  await time.until(
    eventually(() => closed, 'the end of the upstream response'),
    soon,
  );
  t.match(gateway.finished, [{ status: 200, code: 'request_timeout' }]);
});

t.test('nothing is read without end from a client that was rejected', async (t) => {
  const { dial } = await startProxied(t);
  const client = await dial(requestText('POST', '/', [['Content-Length', '1000000000']]));
  t.equal((await client.response('POST')).status, 401);
  const chunk = Buffer.alloc(64 * 1024);
  const sending = setInterval(() => client.send(chunk), 1);
  t.teardown(() => clearInterval(sending));
  await client.end();
  t.ok(client.closed);
});
