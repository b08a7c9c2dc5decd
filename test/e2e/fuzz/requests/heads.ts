/** What the heads of requests are made of: what a client may say, and what only a careless or a hostile one does. */
import type { World } from '../world.ts';

export const host = 'Host: gateway.test';

export function as(key: string): string {
  return `Authorization: Bearer ${key}`;
}

/** What stands behind `Basic`. @param text user name, colon and password; each character is a byte */
export function base64(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64');
}

/** A key in each scheme; most clients send `Bearer`. */
export const authorizations: readonly ((key: string) => string)[] = [
  as,
  as,
  as,
  as,
  (key) => `Authorization: Token ${key}`,
  (key) => `authorization: APIKEY  ${key}`,
  (key) => `Authorization: Basic ${base64(`${key}:`)}`,
  (key) => `Authorization: basic ${base64(`api:${key}`)}`,
];

export const methods = [
  'GET',
  'GET',
  'GET',
  'POST',
  'POST',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
];
export const oddMethods = [
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
export const oddVersions = [
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
export const oddHosts = ['Host: a b', 'Host:', 'X-No-Host: 1', 'Host: a\r\nHost: b', 'Host: gateway.test\r\nHost: gateway.test', 'Host: a@b', 'Host: a/b', 'Host: gateway.test:80', 'Host: [::1]:80', 'host : gateway.test', 'Host: \xe9', 'Host: a,b', 'hOsT:\tgateway.test\t', 'Host: gateway.test#x', 'Host : a\r\nHost: gateway.test']; // prettier-ignore

export const suffixes = ['', '', '', '', '/', '/orders', '/orders?page=2', '/a/b-c', '?q=%00&x=../y', '/caf%C3%A9', '/a%2Fb', '/a%2fb', '/a//b', '/a;v=1/b', '/100%25', '/.well-known', '/a...b', "/~u/!$&'()*+,=:@", '?', '?a?b', '/%7e', '/V1/Sub-Accounts', '/v1/sub-accounts', `/${'a'.repeat(3000)}`]; // prettier-ignore

const management = ['/v1/sub-accounts', '/v1/./sub-accounts', '/v1/%2e/sub-accounts', '/v1//sub-accounts', '//v1/sub-accounts', '/v1%2Fsub-accounts', '/v1\\sub-accounts', '/v1%5Csub-accounts', '/V1/Sub-Accounts', '/v1/%73ub-accounts', '/v1/%2573ub-accounts', '/v1;x/sub-accounts', '/v1/;/sub-accounts', '/v1/sub-accounts;x', '/v1/sub-accounts%3Fx', '/v1/sub-accounts%00', '/v1/sub-accounts#x', '/v1/x/../sub-accounts', '/v1/x/%2e%2e/sub-accounts', '/v1/x/..;/sub-accounts', '/v1/x/..%2fsub-accounts', '/v1/x/..%5csub-accounts', '/v1/%c5%bfub-accounts', '/v1%ef%bc%8fsub-accounts', '/v1/x/%c0%ae%c0%ae/sub-accounts', '/v1/%u0073ub-accounts', '/v1/sub%2Daccounts', '/v1/sub-accounts%2f', '/v1/sub-accounts%09', '/v1/sub-accounts%20', '/%2Fv1/sub-accounts', '/v1%252fsub-accounts', '/x/..;/v1/sub-accounts', '/.;/v1/sub-accounts', '/v1/sub-accounts.', '/v1/sub-accounts%2e', '/v1/sub_accounts', '/%76%31/sub-accounts']; // prettier-ignore

export const oddTargets: readonly ((word: string) => string)[] = [
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

export const oddAuthorizations: readonly ((key: string, other: string) => string)[] = [
  (key) => `authorization:Bearer ${key}`,
  (key) => `Authorization: bearer  ${key} `,
  (key) => `Authorization: ${key}`,
  (key) => `Authorization: Basic ${key}`,
  (key) => `Authorization: Basic ${base64(key)}`,
  (key) => `Authorization: Basic ${base64(`${key}:${key}`)}`,
  (key, other) => `Authorization: Basic ${base64(`${key}:${other}`)}`,
  (key, other) => `Authorization: Basic ${base64(`${key}:`)}, Basic ${base64(`${other}:`)}`,
  (key, other) => `Authorization: Basic ${base64(`${key}:`)}\r\nAuthorization: Basic ${base64(`${other}:`)}`,
  (key, other) => `Authorization: Token ${other}\r\nAuthorization: Basic ${base64(`:${key}`)}`,
  (key) => `Authorization: Basic ${base64(`ab:${key}`).replace(/=+$/, '')}`,
  (key) => `Authorization: Basic ${base64(`???:${key}`).replaceAll('/', '_')}`,
  (key) => `Authorization: Basic ${base64(`a\0b:${key}`)}`,
  (key) => `Authorization: Basic ${base64(`a\r\nX-Split: 1:${key}`)}`,
  (key) => `Authorization: Basic ${base64(`${key}\0:`)}`,
  (key) => `Authorization: Basic ${base64(`\xe9:${key}`)}`,
  (key) => `Authorization: Basic ${base64(`${'u'.repeat(2_000)}:${key}`)}`,
  (key) => `Authorization: Basic "${base64(`${key}:`)}"`,
  (key) => `Authorization: Basic\t${base64(`${key}:`)}`,
  (key) => `Authorization: Digest ${base64(`${key}:`)}`,
  (key) => `Authorization: Token token="${key}"`,
  (key) => `Authorization: ApiKey ${base64(`api:${key}`)}`,
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

export function actings({ parent, subAccounts: { a, b, foreign } }: World): readonly string[] {
  return ['self', 'self', 'ext:a', 'ext:a', a, a, a.toUpperCase(), parent.accountId, b, 'ext:b', foreign, 'ext:c', 'ext:', 'ext:a ', 'ext:a,self', 'self, ext:a', 'self\r\nX-Service-Acting-Tenant: ext:a', 'ext:a\r\nx-service-acting-tenant: ext:a', '', 'Self', 'ext:A', `{${a}}`, a.slice(1), 'ext:\xe9', 'self\0', '"self"']; // prettier-ignore
}

const trusted = [
  'Resolved-Tenant',
  'Resolved-External-Id',
  'Parent-Tenant',
  'Parent-External-Id',
  'Caller-Tenant',
  'Caller-Key',
  'Caller-Scopes',
  'Acting-Tenant',
  'Enforced',
  'Anything',
];
const separators = [..."!#$%&'*+-.^_`|~"];

export const oddHeaders: readonly ((word: string) => string)[] = [
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
  () => 'X-Script-Name: /',
  () => 'X-Accel-Mapping: /=/v1/sub-accounts',
  () => 'Remote-User: admin\r\nX-Remote-User: admin',
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
