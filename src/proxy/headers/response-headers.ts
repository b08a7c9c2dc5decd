import { foldHeaderName, type HeaderNames } from '../../domain/header-names.ts';
import { cachingHeaders, speaksToSharedCaches, type Caching } from './caching.ts';
import { HeaderNameMemo, namedByConnection, withoutNamed } from './header-rules.ts';

/** Rule for a header of the upstream's response. It depends only on the name. */
type ResponseRule = 'pass' | 'drop' | 'units' | 'vary' | 'cache-control' | FramingRule;
type FramingRule = 'connection' | 'content-length' | 'transfer-encoding' | 'upgrade';

/** Response headers for the client. */
export interface FilteredHeaders {
  /** Flat list of names and values, without the length. */
  readonly headers: string[];
  /** Number of bytes of the body; `undefined` if the upstream does not state it. */
  readonly contentLength: number | undefined;
  /** Value of the header that states units (`usage.units_header`); `null` if the response has none. */
  readonly units: string | null;
}

/** Filters the headers and trailers of upstream responses. */
export interface ResponseHeaderFilter {
  /**
   * Filters the headers of a response.
   *
   * @param rawHeaders flat list of names and values
   * @param resolvedTenant `null` if none was resolved
   * @throws Error if the body has a transfer coding that cannot be passed on: any coding other than `chunked`
   */
  headers(
    status: number,
    rawHeaders: readonly string[],
    requestId: string,
    resolvedTenant: string | null,
  ): FilteredHeaders;
  /**
   * Filters trailers. If a name is dropped as a header, it is also dropped as a trailer.
   *
   * @param rawTrailers flat list of names and values
   */
  trailers(rawTrailers: readonly string[]): string[];
}

/** Header in which upstreams state units (`usage.units_header`), and whether clients get it. */
export interface UnitsHeader {
  readonly name: string;
  readonly passes: boolean;
}

/**
 * Creates the filter. It drops headers that belong to the upstream connection. It also drops, in every spelling, the
 * headers that clients trust because only the gateway sets them.
 *
 * @param unitsHeader `null` if upstreams state no units
 */
export function responseHeaderFilter(
  names: HeaderNames,
  unitsHeader: UnitsHeader | null,
  caching: Caching,
): ResponseHeaderFilter {
  const ruleFor = responseRules(names, unitsHeader?.name.toLowerCase(), caching);
  const pushCaching = cachingHeaders(caching);
  return {
    headers(status, rawHeaders, requestId, resolvedTenant) {
      const headers: string[] = [];
      let named: Set<string> | undefined;
      let length: string | undefined;
      let upgrade: string | undefined;
      let units: string | null = null;
      const said = { vary: '', 'cache-control': '' };
      for (let i = 0; i < rawHeaders.length; i += 2) {
        const name = rawHeaders[i] as string;
        const rule = ruleFor(name);
        if (rule === 'drop') continue;
        const value = rawHeaders[i + 1] as string;
        if (rule === 'pass') {
          headers.push(name, value);
        } else if (rule === 'content-length') {
          if (mayStateLength(status)) length = value;
        } else if (rule === 'connection') {
          named = namedByConnection(value, named);
        } else if (rule === 'upgrade') {
          if (status === upgradeRequired) upgrade = value;
        } else if (rule === 'units') {
          // A repeated header is read as a list (RFC 9110 §5.3), which is not a number.
          units = units === null ? value : `${units}, ${value}`;
          if (unitsHeader?.passes === true) headers.push(name, value);
        } else if (rule === 'vary' || rule === 'cache-control') {
          said[rule] += `, ${value}`;
        } else if (value.toLowerCase() !== 'chunked') {
          throw new Error('the upstream used an unknown transfer coding');
        }
      }
      const passed = named === undefined ? headers : withoutNamed(headers, named);
      if (upgrade !== undefined) passed.push('upgrade', upgrade);
      passed.push('x-request-id', requestId);
      if (resolvedTenant !== null) passed.push(names.resolvedTenant, resolvedTenant);
      // Caches keep no interim response.
      if (status >= 200) pushCaching(passed, said);
      const contentLength = length === undefined ? undefined : Number(length);
      // undici lets it through.
      if (contentLength !== undefined && contentLength > Number.MAX_SAFE_INTEGER)
        throw new Error('the upstream stated too large a length');
      return { headers: passed, contentLength, units };
    },

    trailers(rawTrailers) {
      const trailers: string[] = [];
      for (let i = 0; i + 1 < rawTrailers.length; i += 2) {
        const name = rawTrailers[i] as string;
        if (ruleFor(name) !== 'pass' || neverTrailers.test(foldHeaderName(name))) continue;
        trailers.push(name, rawTrailers[i + 1] as string);
      }
      return trailers;
    },
  };
}

/**
 * Status of a response that must have `Upgrade` (RFC 9110 §15.5.22). In any other final response `Upgrade` is optional
 * (§7.8), so the filter drops it.
 */
const upgradeRequired = 426;

/**
 * Whether a response may have a `Content-Length`. 1xx and 204 may not (RFC 9110 §8.6). A 304 may, because it states the
 * length of the body that the client has cached.
 */
function mayStateLength(status: number): boolean {
  return status >= 200 && status !== 204;
}

/**
 * Fields that are not passed on as trailers: those that say how a response is read, kept, followed or authenticated (RFC
 * 9110 §6.5.1), and those that only the gateway says, such as `RateLimit`. Some clients merge trailers into the headers.
 */
const neverTrailers = new RegExp(
  `^(?:${[
    'access-control-.*|content-(?!digest$).*|(?:x-)?ratelimit.*|(?:.*-)?cache-control|(?:surrogate|edge)-control',
    'age|date|expires|location|refresh|retry-after|set-cookie|vary|warning|www-authenticate|x-accel-expires',
  ].join('|')})$`,
);

const hopByHop = new Set(['keep-alive', 'te', 'trailer', 'upgrade']);

function responseRules(
  names: HeaderNames,
  unitsHeader: string | undefined,
  { vary, isPrivate }: Caching,
): (rawName: string) => ResponseRule {
  const reservedPrefixes = ['x-service-', foldHeaderName(names.prefix)];
  const rules = new HeaderNameMemo(decideRule);
  return (rawName) => rules.learn(rawName);

  function decideRule(rawName: string): ResponseRule {
    const lower = rawName.toLowerCase();
    if (lower === unitsHeader) return 'units';
    if (lower === 'vary' && vary !== '') return lower;
    if (isPrivate && speaksToSharedCaches(rawName)) return 'drop';
    if (isPrivate && lower === 'cache-control') return lower;
    switch (lower) {
      case 'content-length':
      case 'transfer-encoding':
      case 'connection':
      case 'upgrade':
        return lower;
      default:
    }
    const folded = foldHeaderName(rawName);
    const reserved =
      folded === 'x-request-id' || reservedPrefixes.some((prefix) => folded.startsWith(prefix));
    return reserved || hopByHop.has(folded) || folded.startsWith('proxy-') ? 'drop' : 'pass';
  }
}
