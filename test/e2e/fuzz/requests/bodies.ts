/** Bodies, and how a head may say where they end: right, in an odd way, or wrong. */
import type { Random } from '../../../support/coherence/random.ts';
import type { World } from '../world.ts';
import { as, host } from './heads.ts';

export const bodies: readonly ((random: Random, word: string, world: World) => string)[] = [
  () => '',
  (_, word) => `body ${word}`,
  (_, word) => `body ${word}`,
  (_, word) => `{"transport_mode":"ocean","w":"${word}"}`,
  (_, word) => `caf\xe9 \0 \xff ${word}`,
  (_, word, world) => `GET /up-?/smuggled/${word} HTTP/1.1\r\n${host}\r\n${as(world.parent.key)}\r\n\r\n`,
  (_, word, world) =>
    `0\r\n\r\nGET /up-?/smuggled/${word} HTTP/1.1\r\n${host}\r\n${as(world.solo.key)}\r\n\r\n`,
  (_, word, world) =>
    `\r\nPOST /v1/sub-accounts?${word} HTTP/1.1\r\n${host}\r\n${as(world.parent.key)}\r\nX-Rest: `,
  (random, word) => `${word} `.repeat(random.pick([100, 1800, 2000, 5000])),
];

interface Framed {
  readonly lines: readonly string[];
  readonly body: string;
}
type Framing = (body: string, random: Random) => Framed;

export const goodFramings: readonly Framing[] = [
  (body) => ({ lines: [`Content-Length: ${body.length}`], body }),
  (body) => ({ lines: [`content-length:\t${body.length} `], body }),
  (body, random) => ({ lines: ['Transfer-Encoding: chunked'], body: chunks(body, random) }),
  (body, random) => ({
    lines: ['transfer-encoding: Chunked'],
    body: chunks(body, random, 'X-Service-Caller-Key: forged\r\nX-Own: 1\r\n'),
  }),
];

const lengthOdds = [
  '+%',
  '-%',
  '0x%',
  '%, %',
  '%,',
  ' % %',
  '%;',
  '%.0',
  '%e0',
  '"%"',
  '',
  '\x0b%',
  '%\xa0',
  '%\0',
  '99999999999999999999',
  '18446744073709551616',
  '4294967296',
  '000%',
];
const codingOdds = [
  'gzip, chunked',
  'chunked, gzip',
  'chunked, chunked',
  'identity',
  'xchunked',
  'chunkedx',
  '"chunked"',
  "'chunked'",
  '\x0bchunked',
  'chunked;q=1',
  'chunked,',
  ',chunked',
  '',
  'chun\0ked',
  'CHUNKED',
  '\tchunked\t',
  'chunked\x0c',
  'c\xf0unked',
];
const codingNames = [
  'Transfer_Encoding: chunked',
  'Transfer.Encoding: chunked',
  'Transfer-Encoding : chunked',
  ' Transfer-Encoding: chunked',
  'Transfer-Encoding:\r\n chunked',
  'X: 1\nTransfer-Encoding: chunked',
  'X: 1\rTransfer-Encoding: chunked',
  'Transfer-Encoding\t: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Content-Encoding: chunked',
  'TE: chunked',
  '\0Transfer-Encoding: chunked',
  'Transfer-Encoding\0: chunked',
];
const lengthNames = [
  'Content_Length: %',
  'Content.Length: %',
  'Content-Length : %',
  ' Content-Length: %',
  'Content-Length:\r\n %',
  'X: 1\nContent-Length: %',
  'X: 1\rContent-Length: %',
  'Content-Length: %\r\nContent-Length: %',
  'Content-Length: 0\r\nContent-Length: %',
  'Content-Length: %\r\nContent-Length: 0',
  'Content-Length: %\r\nContent_Length: 0',
  'Content-Length\0: %',
];

export const oddFramings: readonly Framing[] = [
  ...lengthOdds.map((form): Framing => (body) => ({ lines: [`Content-Length: ${form.replaceAll('%', String(body.length))}`], body })),
  ...lengthNames.map((form): Framing => (body) => ({ lines: [form.replaceAll('%', String(body.length))], body })),
  ...codingOdds.map((form): Framing => (body, random) => ({ lines: [`Transfer-Encoding: ${form}`], body: chunks(body, random) })),
  ...codingNames.map((form): Framing => (body, random) => ({ lines: [form], body: chunks(body, random) })),
  ...codingOdds.map((form): Framing => (body, random) => {
    const text = chunks(body, random);
    return { lines: [`Transfer-Encoding: ${form}`, `Content-Length: ${text.length}`], body: text };
  }),
  ...codingNames.map((form): Framing => (body, random) => {
    const text = chunks(body, random);
    return { lines: [form, `Content-Length: ${random.pick([text.length, 5, 0])}`], body: text };
  }),
  ...[-1, 1, 7, 3000].map((off): Framing => (body) => ({ lines: [`Content-Length: ${Math.max(0, body.length + off)}`], body })),
  ...['g\r\n', '-1\r\n', '+4\r\n', '0x4\r\n', '4\n', '4\r', '4 \r\n', ' 4\r\n', '4;a\r\n', '4;a=b;c="d"\r\n', '4;a\nb\r\n', '4;\0\r\n', '4;a\rb\r\n', `4;${'x'.repeat(20_000)}\r\n`, 'ffffffffffffffff\r\n', '10000000000000004\r\n', '\r\n', '04\r\n', '4\r\r\n', '4;\r\n', '4\t;x\r\n', '4_0\r\n'].map(
    (size): Framing => (body) => ({ lines: ['Transfer-Encoding: chunked'], body: `${size}abcd\r\n0\r\n\r\n${body}` }),
  ),
  ...['abcdX\r\n', 'abcd\n', 'abcd', 'abcd\r', 'abc\r\n', 'abcd\r\n\r\n', 'abcd\rX'].map(
    (data): Framing => (body) => ({ lines: ['Transfer-Encoding: chunked'], body: `4\r\n${data}0\r\n\r\n${body}` }),
  ),
  ...['0', '0\r', '0\r\n', '0\n\n', '0\r\n\n', '0\n\r\n', '00000\r\n\r\n', '0;x\r\n\r\n', '0\r\nX-No-Colon\r\n\r\n', '0\r\n X: 1\r\n\r\n', '0\r\nContent-Length: 5\r\n\r\n', '0\r\nX: a\0\r\n\r\n', '-0\r\n\r\n', '0\r\nX-Service-Resolved-Tenant: forged\r\n\r\n', '0\r\nHost: b\r\n\r\n', '0x\r\n\r\n', '0\r\nX: a\nY: b\r\n\r\n'].map(
    (end): Framing => (body) => ({ lines: ['Transfer-Encoding: chunked'], body: `4\r\nabcd\r\n${end}${body}` }),
  ),
]; // prettier-ignore

function chunks(body: string, random: Random, trailers = ''): string {
  let text = '';
  for (let at = 0; at < body.length;) {
    const size = 1 + random.below(random.pick([5, 60, 20_000]));
    const length = Math.min(body.length - at, body.length > 500 ? Math.max(size, 300) : size);
    text += `${length.toString(16)}${random.chance(0.1) ? ';x="y"' : ''}\r\n${body.slice(at, at + length)}\r\n`;
    at += length;
  }
  return `${text}0\r\n${trailers}\r\n`;
}
