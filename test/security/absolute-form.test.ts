// class: app
import t from 'tap';
import { startProxied } from '../support/gateway.ts';

t.test('only origin-form targets are accepted (RFC 9112 §3.2)', async (t) => {
  const { upstream, call } = await startProxied(t);
  for (const [method, target] of [
    ['GET', 'http://gateway.test/v1/sub-accounts'],
    ['GET', 'http://gateway.test/anything'],
    ['GET', 'https://elsewhere.test/'],
    ['GET', 'HTTP://gateway.test'],
    ['OPTIONS', '*'],
    ['GET', '*'],
    ['GET', 'gateway.test:80'],
    ['GET', 'v1/sub-accounts'],
    ['GET', '?x'],
  ] as const) {
    t.equal((await call(method, target)).status, 400, `${method} ${target}`);
  }
  t.equal(upstream.heads, 0);
});

t.test('CONNECT is rejected, ends its connection and reaches no upstream', async (t) => {
  const { upstream, parent, dial } = await startProxied(t);
  const client = await dial(
    `CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: elsewhere.test\r\nAuthorization: Bearer ${parent.key}\r\n\r\n`,
  );
  await client.end();
  t.match(client.text, /^HTTP\/1\.1 400 [^]*"invalid_target"/);
  t.equal(upstream.connections, 0);
});
