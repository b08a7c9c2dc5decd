// class: app
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/upstreams.ts';

t.test('a body that trickles is given up after a minute; one as from a slow phone is not', async (t) => {
  let got = 0;
  const upstream = await startRawUpstream(t, () => (request, response) => {
    request.on('error', () => undefined).on('data', (chunk: Buffer) => (got += chunk.length));
    request.on('end', () => response.end('ok'));
  });
  const clock = { nowMs: 0, wallMs: () => Date.now(), monotonicMs: () => clock.nowMs };
  const timeouts = { connectMs: 100, headersMs: 1e9, bodyMs: 1e9 };
  const { port, parent } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, timeouts } },
    limits: { bodyIdleMs: 60_000, minBodyBytesPerMinute: 6_000 },
    clock,
  });
  const length = 60_000;
  for (const [bytes, status] of [
    [100, 408],
    [1_000, 200],
  ] as const) {
    const client = await rawClient(t, port);
    const begin = got;
    client.send(
      `POST / HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer ${parent.key}\r\nContent-Length: ${length}\r\n\r\n`,
    );
    // A piece each five seconds, by the gateway's clock; it looks at its exchanges many times between two of them.
    for (let sent = 0; sent < length && client.text === ''; sent += bytes) {
      client.send('x'.repeat(bytes));
      await eventually(() => got - begin === sent + bytes || client.text !== '');
      clock.nowMs += 5_000;
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    t.equal((await client.response('POST')).status, status, `${bytes * 12} bytes a minute`);
    client.socket.destroy();
  }
});
