// class: app
import t from 'tap';
import { startProxied } from '../support/gateway.ts';
import { authorizationOf } from '../support/credential-forms.ts';

t.test('a request with too many headers is rejected as a whole: none of them goes unseen', async (t) => {
  const { upstream, call, parent } = await startProxied(t, {
    limits: { maxHeaders: 2000, maxHeaderBytes: 1024 * 1024 },
  });
  // Node by itself keeps 1,000 and drops what comes after, such as the key or the length of the body.
  const filler = Array.from({ length: 1200 }, (_, i): [string, string] => [`X-Filler-${i}`, '1']);
  const response = await call('POST', '/', {
    key: null,
    headers: [...filler, ['Authorization', authorizationOf(parent.key)]],
    body: 'seen',
  });
  t.equal(response.status, 200);
  t.equal(upstream.received[0]?.body.toString(), 'seen');

  const more = Array.from({ length: 2001 }, (_, i): [string, string] => [`X-${i}`, '1']);
  const rejected = await call('GET', '/', { headers: more });
  t.match(rejected, { status: 431, code: 'headers_too_large' });
  t.equal(rejected.headers['connection'], 'close');
  t.equal(upstream.heads, 1);
});

t.test('the limit is exact', async (t) => {
  const { call } = await startProxied(t, { limits: { maxHeaders: 10 } });
  // Host and Authorization are the other two.
  const headers = (count: number) =>
    Array.from({ length: count - 2 }, (_, i): [string, string] => [`X-${i}`, '']);
  t.equal((await call('GET', '/', { headers: headers(10) })).status, 200);
  t.equal((await call('GET', '/', { headers: headers(11) })).status, 431);
});
