import type { Random } from '../../../support/coherence/random.ts';
import { mutate, splitsOf } from '../mutate.ts';
import type { World } from '../world.ts';
import type { RequestCase } from './case.ts';

/** Draws what a client sends on a connection: some requests, of which one or another is not quite right. */
export function drawCase(random: Random, world: World): RequestCase {
  const count = 1 + random.below(4);
  let bytes = '';
  for (let i = 0; i < count; i++) {
    const request = drawRequest(random, world, i);
    bytes += random.chance(0.12) ? mutate(random, request) : request;
  }
  // A reader that takes everything as it is meant ends with this one, and so does the connection.
  bytes += write(
    ['GET', `/up-?/last/=TOKEN9=`, 'HTTP/1.1'],
    [host, as(world.parent.key), 'Connection: close'],
    '',
  );
  return { name: 'drawn', bytes, splits: splitsOf(random, bytes.length, 0.15) };
}

const host = 'Host: gateway.test';

function as(key: string): string {
  return `Authorization: Bearer ${key}`;
}

function drawRequest(random: Random, world: World, index: number): string {
  const odd = (share: number): boolean => random.chance(share);
  const word = `=TOKEN${index}=`;
  const method = odd(0.05) ? random.pick(oddMethods) : random.pick(methods);
  const target = odd(0.2) ? random.pick(oddTargets)(word) : `/up-?/${word}${random.pick(suffixes)}`;
  const version = odd(0.04) ? random.pick(oddVersions) : 'HTTP/1.1';
  const holder = random.pick([world.parent, world.parent, world.parent, world.sub, world.solo]);
  const headers = [odd(0.03) ? random.pick(oddHosts) : host];
  headers.push(odd(0.06) ? random.pick(oddAuthorizations)(holder.key, world.solo.key) : as(holder.key));
  if (odd(0.7)) headers.push(`X-Service-Acting-Tenant: ${random.pick(actings(world))}`);
  for (let more = random.below(3); more > 0; more--)
    headers.push(odd(0.5) ? `X-Dull-${more}: ${word}` : random.pick(oddHeaders)(word));
  const body = random.pick(bodies)(random, word, world);
  const wants = method === 'POST' || method === 'PUT' || method === 'PATCH' || odd(0.15);
  const framed = wants
    ? (odd(0.3) ? random.pick(oddFramings) : random.pick(goodFramings))(body, random)
    : { lines: [], body: '' };
  const lines = shuffled(random, [...headers, ...framed.lines]);
  const blank = odd(0.01) ? random.pick(['  ', '\t', '\x0b', ' \t']) : ' ';
  return write(
    [method, target, version],
    lines,
    framed.body,
    blank,
    odd(0.02) ? random.pick(['\n', '\r', '\r\r\n']) : '\r\n',
  );
}

function write(
  line: readonly string[],
  headers: readonly string[],
  body: string,
  blank = ' ',
  eol = '\r\n',
): string {
  return `${line.join(blank)}${eol}${headers.map((header) => header + eol).join('')}${eol}${body}`;
}

function shuffled(random: Random, lines: string[]): string[] {
  for (let i = lines.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [lines[i], lines[j]] = [lines[j] ?? '', lines[i] ?? ''];
  }
  return lines;
}

const methods = ['GET', 'GET', 'GET', 'POST', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const oddMethods = [
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'QUERY',
  'PRI',
  'get',
  'Post',
  'GE\tT',
  'FROB',
  '',
  'POST\0',
  'M-SEARCH',
  'LINK',
];
const oddVersions = [
  'HTTP/1.0',
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/01.1',
  'HTTP/1.1\t',
  'HTTP/11',
  '',
  'ICE/1.0',
  'HTTP/1.1 HTTP/1.1',
];
const oddHosts = ['Host: a b', 'Host:', 'X-No-Host: 1', 'Host: a\r\nHost: b', 'Host: gateway.test\r\nHost: gateway.test', 'Host: a@b', 'Host: a/b', 'Host: gateway.test:80', 'Host: [::1]:80', 'host : gateway.test', 'Host: \xe9', 'Host: a,b', 'hOsT:\tgateway.test\t', 'Host: gateway.test#x', 'Host : a\r\nHost: gateway.test']; // prettier-ignore

const suffixes = ['', '', '', '', '/', '/orders', '/orders?page=2', '/a/b-c', '?q=%00&x=../y', '/caf%C3%A9', '/a%2Fb', '/a%2fb', '/a//b', '/a;v=1/b', '/100%25', '/.well-known', '/a...b', "/~u/!$&'()*+,=:@", '?', '?a?b', '/%7e', '/V1/Sub-Accounts', '/v1/sub-accounts', `/${'a'.repeat(3000)}`]; // prettier-ignore

const management = ['/v1/sub-accounts', '/v1/./sub-accounts', '/v1/%2e/sub-accounts', '/v1//sub-accounts', '//v1/sub-accounts', '/v1%2Fsub-accounts', '/v1\\sub-accounts', '/v1%5Csub-accounts', '/V1/Sub-Accounts', '/v1/%73ub-accounts', '/v1/%2573ub-accounts', '/v1;x/sub-accounts', '/v1/;/sub-accounts', '/v1/sub-accounts;x', '/v1/sub-accounts%3Fx', '/v1/sub-accounts%00', '/v1/sub-accounts#x', '/v1/x/../sub-accounts', '/v1/x/%2e%2e/sub-accounts', '/v1/x/..;/sub-accounts', '/v1/x/..%2fsub-accounts', '/v1/x/..%5csub-accounts', '/v1/%c5%bfub-accounts', '/v1%ef%bc%8fsub-accounts', '/v1/x/%c0%ae%c0%ae/sub-accounts', '/v1/%u0073ub-accounts', '/v1/sub%2Daccounts', '/v1/sub-accounts%2f', '/v1/sub-accounts%09', '/v1/sub-accounts%20', '/%2Fv1/sub-accounts', '/v1%252fsub-accounts', '/x/..;/v1/sub-accounts', '/.;/v1/sub-accounts', '/v1/sub-accounts.', '/v1/sub-accounts%2e', '/v1/sub_accounts', '/%76%31/sub-accounts']; // prettier-ignore

const oddTargets: readonly ((word: string) => string)[] = [
  ...management.map((path) => (word: string) => `${path}?${word}`),
  ...management.map((path) => (word: string) => `/up-?/${word}/..${path}`),
  ...management.map((path) => (word: string) => `/up-?/${word}%2f..${path}`),
  (word) => `http://gateway.test/up-?/${word}`,
  (word) => `http://gateway.test/v1/sub-accounts?${word}`,
  (word) => `//elsewhere.test/up-?/${word}`,
  (word) => `///up-?/${word}`,
  () => '*',
  () => 'gateway.test:80',
  (word) => `up-?/${word}`,
  (word) => `?${word}`,
  (word) => `/up-?/${word}#fragment`,
  (word) => `/up-?/${word}\0`,
  (word) => `/up-?/${word}\tx`,
  (word) => `/up-?/${word} x`,
  (word) => `/up-?/${word}\xe9`,
  (word) => `/up-?/${word}?\xe9`,
  (word) => `/up-?/${word}\\..\\x`,
  (word) => `/up-?/${word}/../../x`,
  (word) => `/up-?/${word}/%2e%2e/%2e%2e/x`,
  (word) => `/up-?/${word}/%`,
  (word) => `/up-?/${word}/%zz`,
  (word) => `/up-?/${word}/%252e%252e/x`,
  (word) => `/UP-?/${word}`,
  (word) => `/up-?%2f${word}`,
  (word) => `/up-?;x/${word}`,
  (word) => `/x/../up-?/${word}`,
  (word) => `/up-b/${word}`,
  (word) => `/up-e/..%2fup-b/${word}`,
  (word) => `/elsewhere/${word}`,
  (word) => `/up-?x/${word}`,
  (word) => `/up-?/${word}/${'a/'.repeat(300)}`,
  (word) => `/up-?/${word}?x=1 HTTP/1.1\r\nX-Split: 1`,
  (word) => `/up-?/${word}%0d%0aX-Split:%201`,
  (word) => `/up-?/${word}?%0d%0aX-Split:%201`,
];

const oddAuthorizations: readonly ((key: string, other: string) => string)[] = [
  (key) => `authorization:Bearer ${key}`,
  (key) => `Authorization: bearer  ${key} `,
  (key) => `Authorization: ${key}`,
  (key) => `Authorization: Basic ${key}`,
  (key, other) => `Authorization: Bearer ${key}\r\nAuthorization: Bearer ${other}`,
  (key, other) => `Authorization: Bearer ${key}, Bearer ${other}`,
  (key, other) => `Authorization: Bearer ${key} ${other}`,
  (key) => `Authorization: Bearer ${key},`,
  (key) => `Authorization: Bearer\t${key}`,
  (key) => `Authorization: Bearer ${key}\0`,
  (key) => `Authorization: Bearer ${key.slice(0, -1)}`,
  (key) => `Authorization : Bearer ${key}`,
  (key) => `Authorization:\r\n Bearer ${key}`,
  (key) => `Authorization_: Bearer ${key}`,
  (key) => `Proxy-Authorization: Bearer ${key}`,
  () => 'Authorization:',
  () => 'X-Nothing: 1',
];

function actings({ parent, subAccounts: { a, b, foreign } }: World): readonly string[] {
  return ['self', 'self', 'ext:a', 'ext:a', a, a, a.toUpperCase(), parent.accountId, b, 'ext:b', foreign, 'ext:c', 'ext:', 'ext:a ', 'ext:a,self', 'self, ext:a', 'self\r\nX-Service-Acting-Tenant: ext:a', 'ext:a\r\nx-service-acting-tenant: ext:a', '', 'Self', 'ext:A', `{${a}}`, a.slice(1), 'ext:\xe9', 'self\0', '"self"']; // prettier-ignore
}

const trusted = [
  'Resolved-Tenant',
  'Caller-Tenant',
  'Caller-Key',
  'Caller-Scopes',
  'Acting-Tenant',
  'Enforced',
  'Anything',
];
const separators = [..."!#$%&'*+-.^_`|~"];

const oddHeaders: readonly ((word: string) => string)[] = [
  ...trusted.map((name) => () => `X-Service-${name}: forged`),
  ...separators.map((char) => () => `X${char}Service${char}Resolved${char}Tenant: forged`),
  ...separators.map((char) => () => `x-service${char}caller-key: forged`),
  ...['Resolved-Tenant', 'Caller-Key', 'Acting-Tenant'].map((name) => () => `Connection: X-Service-${name}`),
  () => 'Connection: close, X-Service-Resolved-Tenant, X-Request-Id, X-Forwarded-For',
  () => 'Connection: keep-alive, Content-Length, Transfer-Encoding, Host',
  () => 'Connection: Authorization',
  (word) => `X-This-Hop: ${word}\r\nConnection: X-This-Hop`,
  () => 'Connection: upgrade',
  () => 'Connection: keep-alive\r\nConnection: close',
  () => 'Connection: \x0b',
  () => 'Keep-Alive: timeout=1',
  () => 'TE: trailers',
  () => 'Trailer: X-Service-Resolved-Tenant',
  () => 'Upgrade: h2c',
  () => 'Upgrade: websocket',
  () => 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
  () =>
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  () => 'Expect: 100-continue',
  () => 'Expect: 200-ok',
  () => 'Expect:',
  () => 'X-HTTP-Method-Override: DELETE',
  () => 'X_HTTP_Method: DELETE',
  () => 'X-Original-URL: /v1/sub-accounts',
  () => 'X-Rewrite-URL: /v1/sub-accounts',
  () => 'X-Forwarded-For: 203.0.113.7',
  () => 'X-Forwarded-Proto: https\r\nX-Forwarded-Host: public.example\r\nX-Forwarded-Port: 443',
  () => 'X_Forwarded_For: 203.0.113.7',
  () => 'Forwarded: for=203.0.113.7',
  () => 'X-Real-IP: 203.0.113.7',
  () => 'X-Request-Id: forged',
  () => 'x.request.id: forged',
  () => 'Proxy: http://elsewhere.test',
  () => 'Proxy-Connection: keep-alive',
  () => 'Cookie: a=1\r\nCookie: b=2',
  () => 'Range: bytes=0-1',
  () => 'X-Bytes: caf\xe9 \xff',
  () => 'X-Empty:',
  () => 'X-Blanks: \t a  b \t ',
  () => 'X-Folded: a\r\n b',
  () => 'X-Folded: a\r\n\tX-Service-Resolved-Tenant: forged',
  () => ' X-Leading: 1',
  () => 'X-Cr: a\rX-Service-Resolved-Tenant: forged',
  () => 'X-Lf: a\nX-Service-Resolved-Tenant: forged',
  () => 'X-Nul: a\0b',
  () => 'X-Del: a\x7fb',
  () => 'X-Bell: a\x07b',
  () => 'X Blank: 1',
  () => 'X-Blank-Before-Colon : 1',
  () => 'X-No-Colon',
  () => ': no name',
  () => 'X-(Comment): 1',
  () => 'X-\xe9: 1',
  () => `X-Long: ${'a'.repeat(9000)}`,
  () => `X-Too-Long: ${'a'.repeat(20_000)}`,
  () => Array.from({ length: 120 }, (_, i) => `X-${i}: 1`).join('\r\n'),
  () => '__proto__: 1\r\nconstructor: 2',
  () => 'Content-Type: application/json',
  () => 'User-Agent: fuzz',
];

const bodies: readonly ((random: Random, word: string, world: World) => string)[] = [
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

const goodFramings: readonly Framing[] = [
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

const oddFramings: readonly Framing[] = [
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
