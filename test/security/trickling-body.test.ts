// class: app
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, startProxied } from '../support/gateway.ts';

t.test('a body that trickles is given up after a minute; one as from a slow phone is not', async (t) => {
  const time = new ManualTime();
  const { dial, requestOf, bytesRead } = await startProxied(t, {
    route: { timeouts: { connectMs: 1e9, headersMs: 1e9, bodyMs: 1e9 } },
    limits: { bodyIdleMs: 60_000, minBodyBytesPerMinute: 6_000 },
    time,
  });
  const length = 60_000;
  for (const [bytes, status] of [
    [100, 408],
    [1_000, 200],
  ] as const) {
    const client = await dial(requestOf('POST', '/', [['Content-Length', String(length)]]));
    for (let sent = 0; sent < length && client.text === ''; sent += bytes) {
      const read = bytesRead();
      client.send('x'.repeat(bytes));
      await eventually(() => bytesRead() > read || client.text !== '', 'the piece');
      await time.advance(5_000);
    }
    t.equal((await client.response('POST')).status, status, `${bytes * 12} bytes a minute`);
    client.socket.destroy();
  }
});
