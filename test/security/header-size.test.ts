// class: app
import t from 'tap';
import { HeldBytes } from '../../src/limits/held-bytes.ts';
import { eventually, startProxied } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';

t.test('a head that is too large is rejected before it is a request', async (t) => {
  const { upstream, dial, requestOf } = await startProxied(t, { limits: { maxHeaderBytes: 4096 } });
  for (const text of [
    requestText('GET', '/', [['X-Large', 'a'.repeat(5000)]]),
    requestText('GET', '/', [['a'.repeat(5000), '1']]),
    requestText('GET', `/${'a'.repeat(5000)}`),
    requestText(
      'GET',
      '/',
      Array.from({ length: 90 }, (): [string, string] => ['Cookie', 'a'.repeat(60)]),
    ),
  ]) {
    const client = await dial(text);
    const response = await client.response();
    t.match(response, { status: 431, code: 'headers_too_large' });
    t.ok(response.headers['x-request-id']);
    await client.end();
  }
  const fine = await dial(requestOf('GET', '/', [['X-Large', 'a'.repeat(3500)]]));
  t.equal((await fine.response()).status, 200);
  t.equal(upstream.heads, 1);
});

t.test('an unfinished head is held up to the limit, and no further', async (t) => {
  const held = new HeldBytes(1_000_000);
  const maxHeaderBytes = 8192;
  const { dial } = await startProxied(t, { limits: { maxHeaderBytes }, held });
  // Its last three bytes may begin the empty line, which does not count.
  const most = maxHeaderBytes + 3;
  const client = await dial(requestText('GET', `/${'a'.repeat(most)}`).slice(0, most));
  await eventually(() => held.held.strangers === most);
  client.send('a');
  t.match(await client.response(), { status: 431, code: 'headers_too_large' });
});
