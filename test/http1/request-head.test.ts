// class: pure
import t from 'tap';
import { parseRequestHead } from '../../src/http1/request-head.ts';

/** Fault of a request with these header lines; `null` if it has none. */
function faultOf(lines: readonly string[], version = '1.1') {
  return parseRequestHead(`GET / HTTP/${version}\r\n${lines.map((line) => `${line}\r\n`).join('')}`).fault;
}

t.test('a host is required, except by HTTP/1.0', async (t) => {
  t.equal(faultOf([], '1.0'), null);
  t.match(faultOf([]), { code: 'invalid_request' });
  t.match(faultOf(['Host: a', 'Host: a']), { code: 'invalid_request' });
  for (const host of ['a.test', 'a.test:80', '[::1]:8080', '127.0.0.1', 'xn--caf-dma.test', '']) {
    t.equal(faultOf([`hOST: ${host}`]), null, host);
  }
  for (const host of ['a b', 'a@b', 'a,b', 'a/b', 'a\\b', 'a#b', 'a?b', 'caf\xe9', 'a"b', '<a>']) {
    t.match(faultOf([`Host: ${host}`]), { code: 'invalid_request' }, host);
  }
});

t.test('the length of a body is given once, in one way', async (t) => {
  const length = 'Content-Length: 4';
  const chunked = 'transfer-encoding: Chunked';
  for (const lines of [[length], [chunked], []]) t.equal(faultOf(['Host: a', ...lines]), null);
  for (const lines of [
    [length, length],
    [length, chunked],
    [chunked, length],
    [chunked, chunked],
    ['Content-Length: +4'],
    ['Content-Length: -4'],
    ['Content-Length: 4 4'],
    ['Content-Length: 4, 4'],
    ['Content-Length: '],
    ['Content-Length: 0x4'],
    ['Content-Length: 9999999999999999'],
    ['Transfer-Encoding: gzip, chunked'],
    ['Transfer-Encoding: identity'],
    ['Transfer-Encoding: chunked, identity'],
    ['Transfer-Encoding: xchunked'],
    ['Transfer-Encoding: "chunked"'],
  ]) {
    t.match(faultOf(['Host: a', ...lines]), { code: 'invalid_request' }, lines.join());
  }
  t.match(faultOf([chunked], '1.0'), { code: 'invalid_request' });
});

t.test('a version other than 1.0 and 1.1 is a fault', async (t) => {
  for (const version of ['0.9', '1.2', '2.0', '3.1']) {
    t.match(faultOf(['Host: a'], version), { code: 'invalid_request' }, version);
  }
});
