// class: app
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, startProxied } from '../support/gateway.ts';

const limits = { headTimeoutMs: 300 };

t.test('a head that does not end is cut off, however it drips', async (t) => {
  const time = new ManualTime();
  const { upstream, dial, bytesRead } = await startProxied(t, { limits, time });
  const client = await dial('GET / HTTP/1.1\r\nHost: gateway.test\r\n');
  for (let drips = 0; drips < 100 && client.text === ''; drips++) {
    const read = bytesRead();
    client.send('X-Drip: 1\r\n');
    await eventually(() => bytesRead() > read || client.text !== '', 'the drip');
    await time.advance(limits.headTimeoutMs / 6);
  }
  t.match(await client.response(), { status: 408, code: 'request_timeout' });
  await client.end();
  t.equal(upstream.heads, 0);
});

t.test('a connection that says nothing at all is closed', async (t) => {
  const time = new ManualTime();
  const { dial } = await startProxied(t, { limits, time });
  const client = await dial('');
  await time.until(client.end());
  t.ok(client.closed);
});
