// class: app
import t from 'tap';
import { authorizationOf } from '../support/credential-forms.ts';
import { startProxied } from '../support/gateway.ts';

/**
 * Messages whose end two readers could see in different places: one for each part of the reader that rejects them. All
 * forms are in test/http1. `SMUGGLED` is what one of them would take for a request of its own.
 */
const ambiguous: Readonly<Record<string, string>> = {
  'Content-Length and Transfer-Encoding':
    head('Content-Length: 4', 'Transfer-Encoding: chunked') + '0\r\n\r\nSMUGGLED',
  'Transfer-Encoding and Content-Length':
    head('Transfer-Encoding: chunked', 'Content-Length: 60') + '0\r\n\r\nSMUGGLED',
  'two Content-Lengths': head('Content-Length: 4', 'Content-Length: 8') + 'bodySMUGGLED',
  'Content-Length with a sign': head('Content-Length: +4') + 'body',
  'blank before the colon': head('Content-Length : 4') + 'body',
  Content_Length: head('Content_Length: 4', 'Content-Length: 12') + 'bodySMUGGLED',
  'Content.Length alone': head('Content.Length: 4') + 'bodySMUGGLED',
  Transfer_Encoding: head('Transfer_Encoding: chunked', 'Content-Length: 13') + '0\r\n\r\nSMUGGLED',
  'Transfer-Encoding gzip and chunked': head('Transfer-Encoding: gzip, chunked') + '0\r\n\r\nSMUGGLED',
  'Transfer-Encoding with a tab': head('Transfer-Encoding: \tchunked\t,') + '0\r\n\r\nSMUGGLED',
  'bare LF between headers': head('X-A: 1\nX-Service-Resolved-Tenant: forged'),
  'bare CR in a value': head('X-A: 1\rX-Service-Resolved-Tenant: forged'),
  'no Host': 'GET / HTTP/1.1\r\nAuthorization: KEY\r\n\r\n',
  'a request in one piece with a rejected one': head('Host: elsewhere.test') + 'SMUGGLED',
  'a request behind an ambiguous length and a rejected target':
    'POST /a/../b HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: KEY\r\nContent_Length: 90\r\n\r\nSMUGGLED',
  'chunk that is longer than it says': head('Transfer-Encoding: chunked') + '4\r\nbodyX\r\n0\r\n\r\n',
  'chunk size that ends with LF': head('Transfer-Encoding: chunked') + '4\nbody\r\n0\r\n\r\n',
  'HTTP/1.0 that is to be kept and closed':
    'GET / HTTP/1.0\r\nHost: gateway.test\r\nAuthorization: KEY\r\nConnection: keep-alive\r\nConnection: close\r\n\r\nSMUGGLED',
  'HTTP/1.0 with Transfer-Encoding':
    'POST / HTTP/1.0\r\nHost: gateway.test\r\nAuthorization: KEY\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nSMUGGLED',
  'HTTP/0.9': 'GET /\r\n\r\n',
  'HTTP/0.9 with headers': 'GET /\nHost: gateway.test\r\nAuthorization: KEY\r\n\r\nSMUGGLED',
  'HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
};

const offer =
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n';

for (const [kind, extra] of [
  ['is', ''],
  ['that offers another protocol is', offer],
] as const)
  t.test(`a message that can be cut in two ways ${kind} rejected and ends its connection`, async (t) => {
    const { upstream, parent, dial, requestOf } = await startProxied(t);
    for (const [name, text] of Object.entries(ambiguous)) {
      const client = await dial(
        text
          .replace('Authorization: KEY', `${extra}Authorization: ${authorizationOf(parent.key)}`)
          .replace('SMUGGLED', requestOf('GET', '/smuggled')),
      );
      await client.end();
      t.match(client.text, /^(?:HTTP\/1\.1 (?:4\d\d|505) |$)/, name);
      t.notOk(client.text.includes('200 OK'), name);
    }
    t.strictSame(upstream.received, []);
  });

t.test('a body does not become a request, and the next request is read after it', async (t) => {
  const { upstream, dial, requestOf } = await startProxied(t);
  const body = 'GET /smuggled HTTP/1.1\r\nHost: gateway.test\r\n\r\n';
  const client = await dial(requestOf('GET', '/first', [], body) + requestOf('GET', '/second'));
  await client.response();
  await client.response();
  const received = upstream.received.map(({ target, body }) => [target, body.toString()]);
  t.same(received, [
    ['/first', body],
    ['/second', ''],
  ]);
});

function head(...lines: string[]): string {
  return `POST / HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: KEY\r\n${lines.join('\r\n')}\r\n\r\n`;
}
