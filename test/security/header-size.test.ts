// class: app
import t from 'tap';
import { authorizationOf } from '../support/credential-forms.ts';
import { startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('a head that is too large is rejected before it is a request', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { maxHeaderBytes: 4096 },
  });
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
    const client = await rawClient(t, port);
    client.send(text);
    const response = await client.response();
    t.equal(response.status, 431);
    t.equal(response.json().code, 'headers_too_large');
    t.ok(response.headers['x-request-id']);
    await client.end();
  }
  const fine = await rawClient(t, port);
  fine.send(
    requestText('GET', '/', [
      ['Authorization', authorizationOf(parent.key)],
      ['X-Large', 'a'.repeat(3500)],
    ]),
  );
  t.equal((await fine.response()).status, 200);
  t.equal(upstream.heads, 1);
});
