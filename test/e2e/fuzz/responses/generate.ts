import type { Random } from '../../../support/coherence/random.ts';
import { mutate, splitsOf } from '../mutate.ts';
import { readResponse } from '../strict.ts';
import { token, type ResponsePlan, type RequestBody } from './plan.ts';

/** Draws what an upstream responds with: mostly almost right, which is where readers disagree. */
export function drawPlan(random: Random): ResponsePlan {
  const method = random.pick([
    'GET',
    'GET',
    'GET',
    'GET',
    'POST',
    'POST',
    'PUT',
    'DELETE',
    'HEAD',
    'HEAD',
    'OPTIONS',
  ]);
  const requestBody: RequestBody =
    method === 'POST' || method === 'PUT'
      ? random.pick(['none', 'short', 'short', 'long', 'chunked'] as const)
      : 'none';
  const drawn = drawBytes(random, method);
  const bytes = random.chance(0.25) ? mutate(random, drawn) : drawn;
  const { state, end } = readResponse(bytes, method);
  // Half a response keeps both ends waiting until a time is up; some of these are enough.
  const waits = state === 'until-close' || state === 'partial' || state === 'malformed';
  const after = random.chance(waits ? 0.97 : 0.3)
    ? random.pick(['close', 'close', 'close', 'reset'] as const)
    : 'keep';
  // Bytes too many go out with the last ones of the response: later they might meet a request that came in good faith.
  const splits = splitsOf(random, Math.min(end, bytes.length) || bytes.length, 0.2);
  return {
    name: 'drawn',
    method,
    requestBody,
    bytes,
    splits,
    after,
    when: random.chance(0.15) ? 'head' : 'whole',
  };
}

function drawBytes(random: Random, method: string): string {
  const interim = random.chance(0.1) ? drawInterim(random) : '';
  const status = random.pick(statuses);
  const line = random.chance(0.92)
    ? `HTTP/1.1 ${status} ${random.pick(reasons)}`
    : random.pick(oddLines)(status);
  const headers = Array.from({ length: random.below(3) }, () => random.pick(oddHeaders)(random));
  const body = random.pick(bodies)(random);
  const framing = random.chance(0.65)
    ? random.pick(goodFramings)(body, random)
    : random.pick(oddFramings)(body, random);
  const lines = [line, `X-Token: ${token}`, ...headers, ...framing.lines];
  const eol = random.chance(0.98) ? '\r\n' : random.pick(['\n', '\r', '\r\r\n']);
  const bodyless = method === 'HEAD' || status === 204 || status === 304;
  const sent = bodyless && random.chance(0.7) ? '' : framing.body;
  const extra = random.chance(0.12) ? random.pick(extras) : '';
  return interim + lines.join(eol) + eol + eol + sent + extra;
}

const statuses = [200, 200, 200, 200, 201, 204, 206, 301, 302, 304, 400, 404, 426, 500, 503, 599, 999];
const reasons = ['OK', 'OK', 'OK', '', 'Some Other Words', 'caf\xe9', '200', 'OK\t'];

const oddLines: readonly ((status: number) => string)[] = [
  (status) => `HTTP/1.0 ${status} OK`,
  (status) => `HTTP/1.1 ${status}`,
  (status) => `HTTP/1.1  ${status} OK`,
  (status) => `HTTP/1.2 ${status} OK`,
  (status) => `HTTP/2 ${status}`,
  (status) => `http/1.1 ${status} OK`,
  (status) => `HTTP/1.1 ${status}0 OK`,
  () => 'HTTP/1.1 20 OK',
  () => 'HTTP/1.1 0 OK',
  () => 'HTTP/1.1 -200 OK',
  () => 'HTTP/1.1 OK',
  () => 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket',
  (status) => ` HTTP/1.1 ${status} OK`,
  (status) => `\r\nHTTP/1.1 ${status} OK`,
  (status) => `HTTP/1.1 ${status} O\x00K`,
  (status) => `HTTP/1.1 ${status} O\x01K`,
  (status) => `ICY ${status} OK`,
  (status) => `garbage ${token}\r\nHTTP/1.1 ${status} OK`,
];

const oddHeaders: readonly ((random: Random) => string)[] = [
  () => 'Content-Type: text/plain',
  () => 'Set-Cookie: a=1\r\nSet-Cookie: b=2',
  () => 'X-Own: kept',
  () => 'Vary: Accept\r\nCache-Control: public, s-maxage=60',
  () => 'vary: authorization, *\r\nCACHE-CONTROL: x=", private',
  () => 'Surrogate-Control: max-age=60\r\nCdn_Cache.Control: public',
  () => 'X-Empty:',
  () => 'X-Blanks: \t a  b \t ',
  () => 'X-Bytes: caf\xe9 \xff',
  () => `X-Long: ${'a'.repeat(5000)}`,
  (random) => Array.from({ length: random.pick([50, 150, 1200]) }, (_, i) => `X-${i}: ${token}`).join('\r\n'),
  () => `X-Larger: ${'a'.repeat(70_000)}`,
  () => 'X-Folded: a\r\n b',
  () => 'X-Folded: a\r\n\tb',
  () => 'X-Cr: a\rSet-Cookie: forged=1',
  () => 'X-Lf: a\nSet-Cookie: forged=1',
  () => 'X-Nul: a\0b',
  () => 'X-Bell: a\x07b',
  () => 'X-Del: a\x7fb',
  () => 'X Blank: 1',
  () => 'X-Blank-Before-Colon : 1',
  () => ' X-Leading: 1',
  () => 'X-No-Colon',
  () => ': no name',
  () => 'Connection: close',
  () => 'Connection: keep-alive',
  () => 'Connection: close, X-Own',
  () => 'Connection: keep-alive, Content-Length',
  () => 'Connection: X-Token, X-Request-Id, X-Service-Resolved-Tenant',
  () => 'Keep-Alive: timeout=5, max=100',
  () => 'Keep-Alive: timeout=0',
  () => 'Keep-Alive: timeout=99999999999999999999',
  () => 'Upgrade: h2c',
  () => 'Trailer: X-Later',
  () => 'TE: trailers',
  () => 'Proxy-Connection: close',
  () => 'Proxy-Authenticate: Basic',
  () => 'X-Service-Resolved-Tenant: forged',
  () => 'x_service_resolved.tenant: forged',
  () => 'X-Service-Enforced: forged',
  () => 'X-Request-Id: forged',
  () => 'Date: forged',
  () => 'Content-Encoding: gzip',
  () => 'Alt-Svc: h3=":443"',
  () => 'Content_Length: 3',
  () => '__proto__: 1\r\nconstructor: 2',
];

const bodies: readonly ((random: Random) => string)[] = [
  () => '',
  () => `body of ${token}`,
  () => `body of ${token}`,
  () => `HTTP/1.1 200 OK\r\nX-Token: ${token}\r\nContent-Length: 8\r\n\r\n${token}`,
  () => `${token}\r\n0\r\n\r\n`,
  () => `caf\xe9 \0 \xff ${token}`,
  (random) => `${token} `.repeat(random.pick([500, 2_500, 8_000])),
];

interface Framed {
  readonly lines: readonly string[];
  readonly body: string;
}
type Framing = (body: string, random: Random) => Framed;

const goodFramings: readonly Framing[] = [
  (body) => ({ lines: [`Content-Length: ${body.length}`], body }),
  (body) => ({ lines: [`content-length:${body.length}`], body }),
  (body, random) => ({ lines: ['Transfer-Encoding: chunked'], body: chunks(body, random) }),
  (body, random) => ({
    lines: ['transfer-encoding: Chunked'],
    body: chunks(
      body,
      random,
      `X-Checksum: ${token}\r\nSet-Cookie: forged=1\r\nX-Service-Caller-Key: forged\r\n`,
    ),
  }),
  (body) => ({ lines: [], body }),
];

const oddFramings: readonly Framing[] = [
  ...['', '+', '-', '0x', '0', ' 0', '"'].map((before): Framing => {
    return (body) => ({ lines: [`Content-Length: ${before}${body.length}`], body });
  }),
  ...[', 5', ' 5', ';', '.0', 'a', 'e1', '\x0b', '\xa0', '00000000000000000000000', '_0', ','].map((behind): Framing => {
    return (body) => ({ lines: [`Content-Length: ${body.length}${behind}`], body });
  }),
  (body) => ({ lines: ['Content-Length:'], body }),
  (body) => ({ lines: ['Content-Length: 18446744073709551616'], body }),
  (body) => ({ lines: ['Content-Length: 9007199254740993'], body }),
  ...[-1, 1, 5, 1000].map((off): Framing => {
    return (body) => ({ lines: [`Content-Length: ${Math.max(0, body.length + off)}`], body });
  }),
  (body) => ({ lines: [`Content-Length: ${body.length}`, `Content-Length: ${body.length}`], body }),
  (body) => ({ lines: [`Content-Length: ${body.length}`, 'Content-Length: 3'], body }),
  (body) => ({ lines: [`Content-Length: 0`, `content-length: ${body.length}`], body }),
  (body) => ({ lines: [`Content-Length: ${body.length}, ${body.length}`], body }),
  (body, random) => ({ lines: ['Content-Length: 4', 'Transfer-Encoding: chunked'], body: chunks(body, random) }),
  (body, random) => ({ lines: ['Transfer-Encoding: chunked', `Content-Length: ${body.length}`], body: chunks(body, random) }),
  (body) => ({ lines: ['Transfer-Encoding: chunked', `Content-Length: ${body.length}`], body }),
  ...['gzip, chunked', 'chunked, gzip', 'identity', 'chunked, chunked', 'xchunked', '"chunked"', '\x0bchunked', 'chunked;q=1', '', ',chunked', 'chunked,'].map(
    (coding): Framing => {
      return (body, random) => ({ lines: [`Transfer-Encoding: ${coding}`], body: chunks(body, random) });
    },
  ),
  (body, random) => ({ lines: ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], body: chunks(body, random) }),
  (body, random) => ({ lines: ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'], body: chunks(body, random) }),
  (body, random) => ({ lines: ['Transfer-Encoding:\r\n chunked'], body: chunks(body, random) }),
  (body, random) => ({ lines: ['Transfer_Encoding: chunked'], body: chunks(body, random) }),
  (body, random) => ({ lines: ['Transfer-Encoding : chunked'], body: chunks(body, random) }),
  ...['g\r\n', '-1\r\n', '+4\r\n', '0x4\r\n', '4\n', '4\r', '4 \r\n', ' 4\r\n', '4;a\nb\r\n', '4;\0\r\n', `4;${'x'.repeat(20_000)}\r\n`, 'ffffffffffffffff\r\n', '10000000000000004\r\n', '\r\n', '04\r\n', '4\r\r\n'].map(
    (line): Framing => {
      return () => ({ lines: ['Transfer-Encoding: chunked'], body: `${line}abcd\r\n0\r\n\r\n` });
    },
  ),
  ...['abcdX\r\n', 'abcd\n', 'abcd', 'abcd\r', 'abc\r\n', 'abcd\r\n\r\n'].map((data): Framing => {
    return () => ({ lines: ['Transfer-Encoding: chunked'], body: `4\r\n${data}0\r\n\r\n` });
  }),
  ...['', '0', '0\r', '0\r\n', '0\r\n\r', '0\n\n', '0\r\n\n', '00000\r\n\r\n', '0;x\r\n\r\n', '0\r\nX-No-Colon\r\n\r\n', '0\r\n X: 1\r\n\r\n', '0\r\nContent-Length: 5\r\n\r\n', '0\r\nX: a\0\r\n\r\n', '-0\r\n\r\n'].map(
    (end): Framing => {
      return () => ({ lines: ['Transfer-Encoding: chunked'], body: `4\r\nabcd\r\n${end}` });
    },
  ),
]; // prettier-ignore

/** What comes after a response belongs to no request. */
const extras = [
  'x',
  '\r\n',
  '\r\n\r\n',
  `HTTP/1.1 200 OK\r\nX-Token: ${token}\r\nContent-Length: 8\r\n\r\n${token}`,
  `HTTP/1.1 200 OK\r\nX-Token: ${token}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  `HTTP/1.1 200 OK\r\nX-Token: ${token}\r\nContent-Length: 1000000\r\n\r\n`,
  `HTTP/1.1 100 Continue\r\nX-Token: ${token}\r\n\r\n`,
  `HTTP/1.1 `,
  `${token} `.repeat(4000),
];

function drawInterim(random: Random): string {
  const one = random.pick([
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n',
    `HTTP/1.1 102 Processing\r\nX-Token: ${token}\r\n\r\n`,
    'HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 199 What\r\nConnection: close\r\n\r\n',
    'HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n',
  ]);
  return one.repeat(random.pick([1, 1, 2, 50, 2000]));
}

function chunks(body: string, random: Random, trailers = ''): string {
  let text = '';
  for (let at = 0; at < body.length;) {
    const size = Math.min(body.length - at, 1 + random.below(random.pick([3, 40, 9000])));
    // A body in thousands of tiny chunks is a test of patience.
    const length = body.length > 2000 ? Math.min(body.length - at, Math.max(size, 700)) : size;
    text += `${length.toString(16)}${random.chance(0.1) ? ';x="y"' : ''}\r\n${body.slice(at, at + length)}\r\n`;
    at += length;
  }
  return `${text}0\r\n${trailers}\r\n`;
}
