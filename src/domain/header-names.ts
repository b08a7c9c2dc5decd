import { sayingOfProxies } from './said-by-proxies.ts';

/** Names of the headers that the gateway reads from callers and sets for upstreams. */
export interface HeaderNames {
  /** Common prefix of the other names except those in `apiKey`; spelled as configured. */
  readonly prefix: string;
  readonly acting: string;
  readonly resolvedTenant: string;
  readonly resolvedExternalId: string;
  readonly parentTenant: string;
  readonly parentExternalId: string;
  readonly callerTenant: string;
  readonly callerKey: string;
  readonly callerScopes: string;
  readonly enforced: string;
  /** Additional headers configured to carry an API key as their whole value; never includes `Authorization`. */
  readonly apiKey: readonly string[];
}

/** Prefix used in the spec's examples. */
const defaultPrefix = 'X-Service-';

/**
 * @param prefix ends with a hyphen, such as `X-Service-`
 * @param apiKey additional headers that carry API keys, such as `X-API-Key`
 */
export function headerNames(prefix: string = defaultPrefix, apiKey: readonly string[] = []): HeaderNames {
  return {
    prefix,
    acting: `${prefix}Acting-Tenant`,
    resolvedTenant: `${prefix}Resolved-Tenant`,
    resolvedExternalId: `${prefix}Resolved-External-Id`,
    parentTenant: `${prefix}Parent-Tenant`,
    parentExternalId: `${prefix}Parent-External-Id`,
    callerTenant: `${prefix}Caller-Tenant`,
    callerKey: `${prefix}Caller-Key`,
    callerScopes: `${prefix}Caller-Scopes`,
    enforced: `${prefix}Enforced`,
    apiKey,
  };
}

/**
 * Folds a header name, because upstreams may compare names loosely: CGI and WSGI turn `-` into `_`, and some frameworks
 * turn `.` into either. An upstream may treat two names that fold to the same string as one header.
 */
export function foldHeaderName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-');
}

/**
 * Rule for a client's header, based only on its name.
 *
 * - `pass`: forwarded to the upstream unchanged
 * - `drop`: dropped, because only the gateway may set it or because it belongs to a single connection
 * - `underscore`: the name contains `_`; the header is dropped unless the route lists it
 * - `forwarding`: a header in which proxies describe the request ({@link saidByProxies}); forwarded if a trusted proxy
 * sent it, otherwise dropped
 * - `identity`: the same for the caller's identity; forwarded also if the route lists it
 * - `override`: asks to override the method; the request is rejected
 * - `framing`: a misspelling that only lenient servers accept as Content-Length or Transfer-Encoding; the request is
 * rejected
 * - any other rule: the header has its own handling code
 */
export type HeaderRule =
  | 'pass'
  | 'drop'
  | 'underscore'
  | 'forwarding'
  | 'identity'
  | 'override'
  | 'framing'
  | 'acting'
  | 'api-key'
  | 'authorization'
  | 'connection'
  | 'content-length'
  | 'expect'
  | 'forwarded-for'
  | 'forwarded-host'
  | 'forwarded-proto'
  | 'host'
  | 'transfer-encoding'
  | 'upgrade';

/** Configured names that {@link headerRule} compares with clients' headers. */
type NamesToRead = Pick<HeaderNames, 'prefix' | 'acting' | 'apiKey'>;

/**
 * Returns the rule for a header name as the client wrote it. Names are also compared in their folded form, so a
 * client's `X_Service.Acting-Tenant` cannot pass for one of the gateway's headers.
 */
export function headerRule(rawName: string, names: NamesToRead): HeaderRule {
  const lower = rawName.toLowerCase();
  if (lower === names.acting.toLowerCase()) return 'acting';
  if (names.apiKey.some((one) => one.toLowerCase() === lower)) return 'api-key';
  const exact = exactRules.get(lower);
  if (exact !== undefined) return exact;
  // Folding a long name takes time, and anyone can send one, even without a key. So only the first `longestName`
  // characters are folded. No known name is longer.
  const name = foldHeaderName(rawName.slice(0, longestName));
  if (name.startsWith('x-service-') || name.startsWith(foldHeaderName(names.prefix))) return 'drop';
  if (singleHop.has(name) || ownSpellingOnly.has(name)) return 'drop';
  // The name is another spelling of a configured API key header. An upstream could mistake it for that header, and so
  // use a key that the gateway did not check.
  if (names.apiKey.some((one) => foldHeaderName(one) === name)) return 'drop';
  // CGI-like environments turn a `Proxy` header into the variable HTTP_PROXY, which many HTTP clients obey.
  if (name === 'proxy' || name.startsWith('proxy-')) return 'drop';
  if (overrides.has(name)) return 'override';
  if (framing.has(name)) return 'framing';
  // Servers may trust a name with `_`. For example, gunicorn assumes that a proxy has set SCRIPT_NAME.
  if (rawName.includes('_')) return 'underscore';
  return sayingOfProxies(name) ?? 'pass';
}

const longestName = 256;

const exactRules: ReadonlyMap<string, HeaderRule> = new Map([
  ['authorization', 'authorization'],
  ['connection', 'connection'],
  ['content-length', 'content-length'],
  ['expect', 'expect'],
  ['host', 'host'],
  ['transfer-encoding', 'transfer-encoding'],
  ['upgrade', 'upgrade'],
  ['x-forwarded-for', 'forwarded-for'],
  ['x-forwarded-host', 'forwarded-host'],
  ['x-forwarded-proto', 'forwarded-proto'],
]);

/** Headers that belong to one connection only (RFC 9110 §7.6.1), including obsolete ones. */
const singleHop = new Set(['http2-settings', 'keep-alive', 'te', 'trailer']);
const overrides = new Set(['x-http-method', 'x-http-method-override', 'x-method-override']);
const framing = new Set(['content-length', 'transfer-encoding']);
const ownSpellingOnly = new Set(['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']);

/**
 * Returns whether an upstream could mistake a name with `_` for a name that clients must not set. An upstream may read
 * `_` as `-`. It may also take the name for a server variable, such as REMOTE_USER (RFC 3875 §4.1).
 */
export function readsAsReserved(name: string, names: NamesToRead): boolean {
  return headerRule(foldHeaderName(name), names) !== 'pass' || serverVariables.has(name.toUpperCase());
}

const serverVariables = new Set([
  ...['AUTH_TYPE', 'GATEWAY_INTERFACE', 'PATH_INFO', 'PATH_TRANSLATED', 'QUERY_STRING', 'REMOTE_ADDR'],
  ...['REMOTE_HOST', 'REMOTE_IDENT', 'REMOTE_USER', 'REQUEST_METHOD', 'REQUEST_URI', 'SCRIPT_FILENAME'],
  ...['SCRIPT_NAME', 'SERVER_NAME', 'SERVER_PORT', 'SERVER_PROTOCOL', 'SERVER_SOFTWARE'],
]);

/**
 * Returns all values of a header from the raw list, in the order they were sent. Parsed header objects join or drop
 * repeated headers, but decisions about tenants must consider every value.
 *
 * @param rawHeaders alternating names and values, as Node provides them
 * @param name header name in lower case
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i] as string;
    if (candidate.length === name.length && candidate.toLowerCase() === name)
      values.push(rawHeaders[i + 1] as string);
  }
  return values;
}
