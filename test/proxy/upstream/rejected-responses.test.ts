// class: pure
/** Responses that two readers could understand differently. */
import t from 'tap';
import { everyByte, readResponses } from '../../support/response-log.ts';

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
const untrue = {
  statusLine: 'no HTTP/1 status line',
  name: 'a header name that is not a token',
  control: 'a control character in a header',
  colon: 'a header without a colon',
  length: 'a Content-Length that is not a number',
  coding: 'an unknown transfer coding',
  size: 'a chunk without a size',
  lf: 'a line that ends without CR',
  data: 'a chunk longer than its size',
  overlong: 'chunks that do not end where they should',
  end: 'no end',
};

/** Responses that are rejected, and for which reason. */
const rejected: readonly (readonly [what: string, bytes: string, reason: string])[] = [
  // Lines: what one reader takes for a line, another may take for two.
  ['bare CR in a value', `${ok}A: b\rC: d\r\n\r\n`, untrue.control],
  ['bare CR at the end of a value', `${ok}A: b\r\r\n\r\n`, untrue.control],
  ['bare CR before a value', `${ok}A:\rb\r\n\r\n`, untrue.control],
  ['bare CR in a name', `${ok}A\rB: c\r\n\r\n`, untrue.name],
  ['bare LF in a value', `${ok}A: b\nC: d\r\n\r\n`, untrue.control],
  ['bare LF in a name', `${ok}A\nB: c\r\n\r\n`, untrue.name],
  ['bare LF after the status line', 'HTTP/1.1 200 OK\nA: b\r\n\r\n', untrue.statusLine],
  ['LF alone throughout', 'HTTP/1.1 200 OK\nA: b\n\n', untrue.lf],
  ['LF alone before the empty line', 'HTTP/1.1 200 OK\r\nA: b\n\r\n', untrue.lf],
  ['LF alone as the empty line', 'HTTP/1.1 200 OK\r\nA: b\r\n\n', untrue.lf],
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', untrue.statusLine],
  ['bare CR in the reason', 'HTTP/1.1 200 O\rK\r\n\r\n', untrue.statusLine],
  ['folding by blank', `${ok}A: b\r\n c\r\n\r\n`, untrue.colon],
  ['folding by tab, with a colon', `${ok}A: b\r\n\tc: d\r\n\r\n`, untrue.name],
  ['folding of the first line', `${ok} A: b\r\n\r\n`, untrue.name],
  ['blank before the colon', `${ok}Content-Length : 5\r\n\r\nabcde`, untrue.name],
  ['tab before the colon', `${ok}Transfer-Encoding\t: chunked\r\n\r\n`, untrue.name],
  ['no colon', `${ok}abc\r\n\r\n`, untrue.colon],
  ['no name', `${ok}: abc\r\n\r\n`, untrue.name],
  ['NUL in a value', `${ok}A: b\0c\r\n\r\n`, untrue.control],
  ['NUL in a name', `${ok}A\0: b\r\n\r\n`, untrue.name],
  ['ESC in a value', `${ok}A: \x1b[2J\r\n\r\n`, untrue.control],
  ['vertical tab after a value', `${ok}A: b\v\r\n\r\n`, untrue.control],
  ['DEL in a value', `${ok}A: b\x7f\r\n\r\n`, untrue.control],
  ['Latin-1 in a name', `${ok}\xc4: b\r\n\r\n`, untrue.name],
  // Lengths.
  ['two lengths', `${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 'two Content-Length'],
  ['two equal lengths', `${ok}Content-Length: 1\r\ncontent-length: 1\r\n\r\na`, 'two Content-Length'],
  ['a length with a sign', `${ok}Content-Length: +5\r\n\r\nabcde`, untrue.length],
  ['a negative length', `${ok}Content-Length: -5\r\n\r\nabcde`, untrue.length],
  ['a list of lengths', `${ok}Content-Length: 5,5\r\n\r\nabcde`, untrue.length],
  ['a length in hexadecimal', `${ok}Content-Length: 0x5\r\n\r\nabcde`, untrue.length],
  ['a length with a fraction', `${ok}Content-Length: 5.0\r\n\r\nabcde`, untrue.length],
  ['a length in quotes', `${ok}Content-Length: "5"\r\n\r\nabcde`, untrue.length],
  ['a length with a no-break space', `${ok}Content-Length: 5\xa0\r\n\r\nabcde`, untrue.length],
  ['an empty length', `${ok}Content-Length:\r\n\r\n`, untrue.length],
  ['a length of 16 digits', `${ok}Content-Length: 1000000000000000\r\n\r\n`, untrue.length],
  // Codings.
  [
    'length, then chunks',
    `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'a length and chunks',
  ],
  [
    'chunks, then length',
    `${ok}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
    'a length and chunks',
  ],
  ['another coding', `${ok}Transfer-Encoding: gzip\r\n\r\n`, untrue.coding],
  ['two codings', `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, untrue.coding],
  ['identity', `${ok}Transfer-Encoding: identity\r\n\r\n`, untrue.coding],
  ['an empty coding', `${ok}Transfer-Encoding:\r\n\r\n`, untrue.coding],
  ['a coding with a parameter', `${ok}Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n`, untrue.coding],
  ['chunked twice in one', `${ok}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`, untrue.coding],
  [
    'chunked twice',
    `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    untrue.coding,
  ],
  [
    'chunks in HTTP/1.0',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'chunks in HTTP/1.0',
  ],
  // Status lines.
  ...[
    'HTTP/2 200 OK',
    'HTTP/2.0 200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/0.9 200 OK',
    'HTTP/1.1.1 200 OK',
    'http/1.1 200 OK',
    'HTTPS/1.1 200 OK',
    'ICY 200 OK',
    ' HTTP/1.1 200 OK',
    '\r\nHTTP/1.1 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
    'HTTP/1.1 200OK',
    'HTTP/1.1200 OK',
    'HTTP/1.1 99 OK',
    'HTTP/1.1 099 OK',
    'HTTP/1.1 1000 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 +20 OK',
    'HTTP/1.1 OK',
    'HTTP/1.1',
    'GET / HTTP/1.1',
    '',
  ].map(
    (line) => [`status line ${JSON.stringify(line)}`, `${line}\r\nA: b\r\n\r\n`, untrue.statusLine] as const,
  ),
  ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'an upgrade that was not asked for'],
  [
    'a hundred and one interim responses',
    'HTTP/1.1 102 x\r\n\r\n'.repeat(101) + ok,
    'too many 1xx before it',
  ],
  ['a broken interim response', 'HTTP/1.1 103 x\r\nA : b\r\n\r\n', untrue.name],
  // Chunks.
  ['no size', `${chunked}\r\n`, untrue.size],
  ['an extension without size', `${chunked};a\r\n\r\n`, untrue.size],
  ['a size of too many digits', `${chunked}1${'0'.repeat(13)}\r\na\r\n0\r\n\r\n`, untrue.size],
  ['such a size behind a zero', `${chunked}01${'0'.repeat(13)}\r\na\r\n0\r\n\r\n`, untrue.size],
  ['a huge size', `${chunked}ffffffffffffffff\r\na`, untrue.size],
  ['a size with a sign', `${chunked}+1\r\na\r\n0\r\n\r\n`, untrue.size],
  ['a negative size', `${chunked}-1\r\na\r\n0\r\n\r\n`, untrue.size],
  ['a size with a prefix', `${chunked}0x1\r\na\r\n0\r\n\r\n`, untrue.size],
  ['a size with an underscore', `${chunked}1_0\r\na\r\n0\r\n\r\n`, untrue.size],
  ['a blank before a size', `${chunked} 1\r\na\r\n0\r\n\r\n`, untrue.size],
  ['a blank after a size', `${chunked}1 \r\na\r\n0\r\n\r\n`, untrue.size],
  ['a bare CR in an extension', `${chunked}1;a\rb\r\na\r\n0\r\n\r\n`, untrue.size],
  ['a NUL in an extension', `${chunked}1;\0\r\na\r\n0\r\n\r\n`, untrue.size],
  ['LF alone after a size', `${chunked}1\na\r\n0\r\n\r\n`, untrue.lf],
  ['LF alone after an extension', `${chunked}1;a\n2\r\na\r\n0\r\n\r\n`, untrue.lf],
  ['LF alone after data', `${chunked}1\r\na\n0\r\n\r\n`, untrue.lf],
  ['LF alone after the last chunk', `${chunked}0\n\r\n`, untrue.lf],
  ['LF alone at the end', `${chunked}0\r\n\n`, untrue.lf],
  ['LF alone after a trailer', `${chunked}0\r\nA: b\n\r\n`, untrue.lf],
  ['data longer than its size', `${chunked}1\r\nab\r\n0\r\n\r\n`, untrue.overlong],
  ['data without an end of line', `${chunked}1\r\na0\r\n\r\n`, untrue.overlong],
  ['a bare CR after data', `${chunked}1\r\na\r\r\n0\r\n\r\n`, untrue.overlong],
  ['a folded trailer', `${chunked}0\r\nA: b\r\n c\r\n\r\n`, untrue.colon],
  ['a bare CR in a trailer', `${chunked}0\r\nA: b\rC: d\r\n\r\n`, untrue.control],
  ["a blank before a trailer's colon", `${chunked}0\r\nA : b\r\n\r\n`, untrue.name],
  ['one endless extension', `${chunked}1;${'a'.repeat(17_000)}`, untrue.overlong],
  [
    'extensions on and on',
    `${chunked}${`1;${'a'.repeat(100)}\r\na\r\n`.repeat(250)}`,
    'too many chunk extensions',
  ],
  ['one endless trailer', `${chunked}0\r\nA: ${'a'.repeat(17_000)}`, untrue.overlong],
  ['trailers on and on', `${chunked}0\r\n${`A: ${'a'.repeat(100)}\r\n`.repeat(200)}`, 'too many trailers'],
  // Ends.
  ['the end in the status line', 'HTTP/1.1 200', untrue.end],
  ['the end in the head', `${ok}A: b\r\n`, untrue.end],
  ['the end after an interim response', 'HTTP/1.1 100 Continue\r\n\r\n', untrue.end],
  ['the end instead of a body', `${ok}Content-Length: 5\r\n\r\n`, untrue.end],
  ['the end in a body', `${ok}Content-Length: 5\r\n\r\nabcd`, untrue.end],
  ['the end in a size', `${chunked}5`, untrue.end],
  ['the end in a chunk', `${chunked}5\r\nab`, untrue.end],
  ['the end after a chunk', `${chunked}5\r\nabcde\r\n`, untrue.end],
  ['the end in the trailers', `${chunked}0\r\nA: b\r\n`, untrue.end],
  ['the end before the last line', `${chunked}0\r\n`, untrue.end],
  ['nothing at all', '', untrue.end],
];

t.test('what could be read in two ways is rejected, however it comes in', async (t) => {
  for (const [what, text, reason] of rejected) {
    const bytes = Buffer.from(text, 'latin1');
    for (const cuts of [[], everyByte(bytes)]) {
      const { fault, responses } = readResponses(bytes, [false], cuts);
      t.equal(fault, reason, what);
      t.strictSame(responses, [], what);
    }
  }
});
