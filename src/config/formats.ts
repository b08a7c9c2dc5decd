import { isIP } from 'node:net';
import { parseRedisAddress } from './redis/redis-address.ts';
import { clientSecretPrefix, keyPrefixMaxLength } from '../domain/api-key.ts';
import { scopeMaxLength, scopePattern } from '../domain/scope.ts';

/** A schema `format`: its check, and a description of valid values. */
export interface TextFormat {
  readonly expected: string;
  readonly accepts: (text: string) => boolean;
}

const hostname = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,62})(\.[A-Za-z0-9][A-Za-z0-9-]{0,62})*$/;
const scope = new RegExp(scopePattern);
const prefixSegments = /^(\/[A-Za-z0-9._~!$&'()*+,=:@-]+)+$/;

/** String formats, keyed by their name in the schema. */
export const formats: Readonly<Record<string, TextFormat>> = {
  host: {
    expected: 'an IP address or a host name',
    accepts: (text) => isIP(text) !== 0 || hostname.test(text),
  },
  hostname: { expected: 'a host name', accepts: (text) => hostname.test(text) },
  token: {
    expected: 'visible ASCII characters without spaces, as it travels in a header',
    accepts: (text) => /^[!-~]+$/.test(text),
  },
  'operator-name': {
    expected:
      '1 to 64 letters, digits and . _ @ + -, starting with a letter or a digit, other than operator, the name of admin_token',
    accepts: (text) => /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/.test(text) && text !== 'operator',
  },
  'postgres-url': {
    expected: 'an address such as postgres://user:password@host:5432/name',
    accepts: (text) => hasProtocol(text, 'postgres:', 'postgresql:'),
  },
  'redis-url': {
    expected:
      'an address such as redis://host:6379/0, redis+sentinel://host1,host2/master or redis+cluster://host1,host2 (rediss for TLS)',
    accepts: (text) => parseRedisAddress(text) !== undefined,
  },
  'http-url': {
    expected: 'an address such as http://host:port/path or https://host/path, without user',
    accepts: (text) => hasProtocol(text, 'http:', 'https:') && !/^[^/]*\/\/[^/]*@/.test(text),
  },
  'upstream-url': {
    expected:
      'http://host:port, https://host:port or unix:/path/to.sock, without user, path and query (paths are not rewritten)',
    accepts: isUpstream,
  },
  'route-prefix': {
    expected:
      'a path such as /rates: starts with /, does not end with /, has no %, ;, \\, // and no part that ends with . or +',
    accepts: isPrefix,
  },
  cidr: {
    expected: 'an address or a network such as 10.0.0.0/8',
    accepts: isCidr,
  },
  'header-prefix': {
    expected: 'letters and digits in parts joined by hyphens, ending with a hyphen, such as X-Service-',
    accepts: (text) => /^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*-$/.test(text) && text.length <= 64,
  },
  'key-prefix': {
    expected: `1 to ${keyPrefixMaxLength} letters and digits, in parts joined by _, starting with a letter, other than ${clientSecretPrefix}, which client secrets begin with`,
    accepts: (text) =>
      /^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$/.test(text) &&
      text.length <= keyPrefixMaxLength &&
      text !== clientSecretPrefix,
  },
  'problem-base': {
    expected:
      'the start of a URI that a code can follow, such as https://docs.example.com/errors/ or urn:example:problem:',
    accepts: (text) => /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]*[/#:=]$/.test(text) && URL.canParse(`${text}code`),
  },
  origin: {
    expected: 'an origin as browsers send it, such as https://app.example.com, or *',
    accepts: (text) => text === '*' || isOrigin(text),
  },
  'page-origin': {
    expected: 'an origin as browsers send it, such as https://app.example.com',
    accepts: (text) => /^https?:/.test(text) && isOrigin(text),
  },
  'page-url': {
    expected: 'an address such as https://host/path/, without user, query and fragment',
    accepts: isPageUrl,
  },
  'link-url': {
    expected: 'an address such as https://host/path or mailto:help@example.com',
    accepts: (text) => hasProtocol(text, 'http:', 'https:') || (/^mailto:./.test(text) && URL.canParse(text)),
  },
  colour: {
    expected: 'a colour such as #1d5dc9 (in YAML, put it in quotes)',
    accepts: (text) => /^#[0-9a-f]{6}$/i.test(text),
  },
  'header-name': {
    expected: 'a header name of letters, digits, hyphens and underscores',
    accepts: (text) => /^[\w-]+$/.test(text) && text.length <= 256,
  },
  'underscore-name': {
    expected: 'a header name with an underscore in it, of letters, digits, hyphens and underscores',
    accepts: (text) => /^[\w-]*_[\w-]*$/.test(text) && text.length <= 256,
  },
  auto: { expected: 'a whole number or auto', accepts: (text) => text === 'auto' },
  scope: {
    expected: 'a scope such as rates:read',
    accepts: (text) => text.length <= scopeMaxLength && scope.test(text),
  },
};

function hasProtocol(text: string, ...protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol) && new URL(text).hostname !== '';
}

function isUpstream(text: string): boolean {
  if (text.startsWith('unix:')) return /^unix:\/[^/\0?#][^\0?#]*$/.test(text);
  if (!hasProtocol(text, 'http:', 'https:')) return false;
  const { username, password, pathname, search, hash } = new URL(text);
  return (
    username === '' &&
    password === '' &&
    pathname === '/' &&
    search === '' &&
    hash === '' &&
    !/[?#]/.test(text)
  );
}

function isPageUrl(text: string): boolean {
  if (!hasProtocol(text, 'http:', 'https:') || /[?#\s]/.test(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

/**
 * Whether the string is a serialised origin (RFC 6454 §6.2): lower case, no default port, no path. The origin `null` is
 * rejected, because any page can send it.
 */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._:[\]-]+$/.test(text)) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

function isPrefix(text: string): boolean {
  if (text === '/') return true;
  // No segment may end with `.` or `+`, because servers that trim paths would read a different path. Such a route would
  // be useless anyway: the gateway rejects every request for its paths.
  return prefixSegments.test(text) && !/[.+](?:\/|$)/.test(text);
}

function isCidr(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
