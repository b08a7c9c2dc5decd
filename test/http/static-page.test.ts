// class: pure
import { gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import t from 'tap';
import { staticFile } from '../../src/http/static-files.ts';
import { fileHandler, pageHeaders } from '../../src/http/static-page.ts';

const text = '<p>content</p>'.repeat(100);
const app = Fastify();
t.teardown(() => app.close());
app.get(
  '/',
  fileHandler(() => staticFile('index.html', 'text/html', text), pageHeaders()),
);
const ask = (headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') =>
  app.inject({ url: '/', headers, method });

t.test('a file is compressed as the weights in Accept-Encoding say', async (t) => {
  for (const [accept, encoding] of [
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br, gzip;q=0.5', 'gzip'],
    ['gzip ; q=0.5, identity; q=0.4', 'gzip'],
    ['gzip;q=0.5, identity;q=0.6', undefined],
    ['*', 'gzip'],
    ['*;q=0', undefined],
    ['*, gzip;q=0', undefined],
    ['gzip;q=0', undefined],
    ['gzip; q=0.0, br', undefined],
    ['gzip;q=much', undefined],
    ['x-gzip2', undefined],
    ['', undefined],
  ] as const) {
    const { headers, rawPayload } = await ask({ 'accept-encoding': accept });
    t.equal(headers['content-encoding'], encoding, accept);
    t.equal(headers.vary, 'Accept-Encoding');
    t.equal(String(encoding === 'gzip' ? gunzipSync(rawPayload) : rawPayload), text);
  }
  t.equal((await ask({})).headers['content-encoding'], undefined);
});

t.test('each form has a strong validator, which another form does not match', async (t) => {
  const gzip = { 'accept-encoding': 'gzip' };
  const plain = String((await ask({})).headers.etag);
  const gzipped = String((await ask(gzip)).headers.etag);
  t.match([plain, gzipped], [/^"[\w-]+"$/, /^"[\w-]+"$/]);
  t.not(plain, gzipped);
  for (const [tags, coding, expected] of [
    [plain, {}, 304],
    [`W/${plain}`, {}, 304],
    [`"other" , ${plain}`, {}, 304],
    ['*', {}, 304],
    [gzipped, gzip, 304],
    [gzipped, {}, 200],
    [plain, gzip, 200],
    ['"other"', {}, 200],
  ] as const) {
    const { statusCode, headers, body } = await ask({ ...coding, 'if-none-match': tags });
    t.equal(statusCode, expected, tags);
    t.equal(headers.etag, coding === gzip ? gzipped : plain);
    t.match(headers, { vary: 'Accept-Encoding', 'cache-control': 'no-cache' });
    if (expected === 304) t.same([body, headers['content-encoding']], ['', undefined]);
  }
});

t.test('HEAD has what GET has but the bytes', async (t) => {
  for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
    const get = await ask(headers);
    const head = await ask(headers, 'HEAD');
    t.equal(head.body, '');
    for (const name of ['etag', 'content-length', 'content-encoding', 'content-type', 'vary'])
      t.equal(head.headers[name], get.headers[name], name);
  }
});
