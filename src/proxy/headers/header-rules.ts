import { foldHeaderName, type HeaderNames } from '../../domain/header-names.ts';

/**
 * What becomes of a header on its way through, by its name alone.
 *
 * - `pass`: goes to the upstream unchanged
 * - `drop`: only the gateway may set it, or it belongs to one connection
 * - `forwarding`: says where the request came from; passed from a trusted proxy, dropped otherwise
 * - `override`: asks that the method be read as another one; the request is rejected
 * - `framing`: a spelling that only careless readers take for Content-Length or Transfer-Encoding; rejected too
 * - the others are headers that have code of their own
 */
export type HeaderRule =
  | 'pass'
  | 'drop'
  | 'forwarding'
  | 'override'
  | 'framing'
  | 'acting'
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

/** Looks up the rule for a name as it was written. */
export type HeaderRules = (rawName: string) => HeaderRule;

/**
 * Compiles the rules. Names are compared as the most careless reader might (`X_Service.Acting-Tenant`), so no header of
 * the client can pass for one that the gateway sets.
 *
 * Rules are remembered by raw name, since folding is most of the work. Clients can make up any number of names, so only
 * the first 2,000 are remembered.
 */
export function headerRules(names: HeaderNames): HeaderRules {
  const exact = new Map(exactRules);
  exact.set(names.acting.toLowerCase(), 'acting');
  const reservedPrefixes = ['x-service-', foldHeaderName(names.prefix)];
  const known = new Map<string, HeaderRule>();

  return (rawName) => {
    const remembered = known.get(rawName);
    if (remembered !== undefined) return remembered;
    const rule = exact.get(rawName.toLowerCase()) ?? foldedRule(foldHeaderName(rawName), reservedPrefixes);
    if (known.size < mostRemembered) known.set(rawName, rule);
    return rule;
  };
}

const mostRemembered = 2000;

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

/** Headers that are for one connection only (RFC 9110 §7.6.1), the obsolete ones included. */
const singleHop = new Set(['http2-settings', 'keep-alive', 'te', 'trailer']);
/** Headers about where a request came from. The last two make some frameworks serve another path than the one checked. */
const origins = new Set(['forwarded', 'x-real-ip', 'x-request-id', 'x-original-url', 'x-rewrite-url']);
const overrides = new Set(['x-http-method', 'x-http-method-override', 'x-method-override']);
const framing = new Set(['content-length', 'transfer-encoding']);
const ownSpellingOnly = new Set(['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']);

function foldedRule(name: string, reservedPrefixes: readonly string[]): HeaderRule {
  if (reservedPrefixes.some((prefix) => name.startsWith(prefix))) return 'drop';
  if (singleHop.has(name) || ownSpellingOnly.has(name)) return 'drop';
  // `Proxy` alone becomes HTTP_PROXY in CGI-like environments.
  if (name === 'proxy' || name.startsWith('proxy-')) return 'drop';
  if (overrides.has(name)) return 'override';
  if (framing.has(name)) return 'framing';
  if (origins.has(name) || name.startsWith('x-forwarded-')) return 'forwarding';
  return 'pass';
}

/**
 * Adds the header names that a `Connection` header lists (RFC 9110 §7.6.1), in lower case: they are for this connection
 * only. Most messages list none, and then no set is made.
 */
export function namedByConnection(value: string, named?: Set<string>): Set<string> | undefined {
  const lower = value.toLowerCase();
  if (lower === 'keep-alive' || lower === 'close' || lower === 'upgrade') return named;
  const all = named ?? new Set<string>();
  for (const token of lower.split(',')) all.add(token.trim());
  return all;
}

/** The headers whose names are not in `named`. @param headers flat list of names and values */
export function withoutNamed(headers: readonly string[], named: ReadonlySet<string>): string[] {
  const passed: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (!named.has(name.toLowerCase())) passed.push(name, headers[i + 1] as string);
  }
  return passed;
}
