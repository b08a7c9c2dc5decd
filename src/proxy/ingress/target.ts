import { managementPath } from '../../domain/paths.ts';
import type { Problem } from '../../domain/problem.ts';
import { readingsOf } from './path-readings.ts';

/** Where a request target leads. `route` is the position in the list given to {@link compileTargets}. */
export type Target =
  | { readonly kind: 'management' }
  | { readonly kind: 'route'; readonly route: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected'; readonly problem: Problem };

/**
 * Makes the function that checks and routes request targets. It works on the raw bytes, and there is no other routing:
 * the path that was checked is the path the upstream gets, unchanged.
 *
 * A path is rejected where a reader behind the gateway could take it for a path of another route; `path-readings.ts`
 * lists what careless readers do. A path that leads to the same route in every reading passes byte for byte, `%2F` and
 * all.
 *
 * @param prefixes of the routes; each matches whole segments, the longest wins
 */
export function compileTargets(prefixes: readonly string[]): (rawTarget: string) => Target {
  const asWritten = landingTable(prefixes);
  const folded = asWritten.map(({ prefix, target }) => ({ prefix: prefix.toLowerCase(), target }));
  if (new Set(folded.map((landing) => landing.prefix)).size < folded.length) {
    throw new Error('two routes have the same prefix, upper and lower case being one');
  }

  return (rawTarget) => {
    const query = rawTarget.indexOf('?');
    const path = query === -1 ? rawTarget : rawTarget.slice(0, query);
    if (!plainPath.test(path)) return readUnusual(rawTarget, path, asWritten, folded);
    if (query !== -1 && !visibleAscii.test(rawTarget)) return notVisible;
    const landing = land(asWritten, path);
    return land(folded, path.toLowerCase()) === landing ? landing : elsewhere;
  };
}

/** No encoding, no parameters, no empty segment and none with a dot at either end: only case can be read differently. */
const plainPath = /^(?:\/|(?:\/[\w~!$&'()*+,=:@-]+(?:\.+[\w~!$&'()*+,=:@-]+)*)+\/?)$/;
const visibleAscii = /^[!-"$-~]*$/;
const malformedEncoding = /%(?![0-9A-Fa-f]{2})/;

const notVisible = rejected('It holds a `#`, or bytes that are not visible ASCII.');
const elsewhere = rejected('Read another way, its path leads to another place.');
const management: Target = { kind: 'management' };
const none: Target = { kind: 'none' };

function readUnusual(
  rawTarget: string,
  path: string,
  asWritten: readonly Landing[],
  folded: readonly Landing[],
): Target {
  // Absolute-form, authority-form and `*` (RFC 9112 §3.2) are not served.
  if (!path.startsWith('/')) return rejected('It must be a path that starts with `/`.');
  if (!visibleAscii.test(rawTarget)) return notVisible;
  if (path.includes('\\')) return rejected('Its path holds a backslash.');
  // Decoders disagree about these: some keep them, some drop them, some decode `%uXXXX`.
  if (malformedEncoding.test(path)) return rejected('Its path holds a malformed percent-encoding.');
  const readings = readingsOf(path);
  if (readings.kind === 'unacceptable') return rejected(readings.reason);
  const landing = land(asWritten, path);
  for (const reading of readings.paths) if (land(folded, reading) !== landing) return elsewhere;
  return landing;
}

/** Names targets in logs and metrics by prefixes of the configuration, by nothing that a client wrote. */
export function targetNames(prefixes: readonly string[]): (target: Target) => string {
  return (target) => {
    if (target.kind === 'route') return prefixes[target.route] ?? 'none';
    return target.kind === 'management' ? managementPath : 'none';
  };
}

/** A target as it may be logged: a query may hold a secret. */
export function withoutQuery(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

interface Landing {
  readonly prefix: string;
  readonly target: Target;
}

function landingTable(prefixes: readonly string[]): readonly Landing[] {
  return prefixes
    .map((prefix, route): Landing => {
      // `/` becomes the empty prefix, which every path starts with.
      return { prefix: prefix.replace(/\/+$/, ''), target: { kind: 'route', route } };
    })
    .sort((a, b) => b.prefix.length - a.prefix.length);
}

function land(table: readonly Landing[], path: string): Target {
  if (isWithin(path, managementPath)) return management;
  for (const landing of table) if (isWithin(path, landing.prefix)) return landing.target;
  return none;
}

function isWithin(path: string, prefix: string): boolean {
  return (
    path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
  );
}

function rejected(reason: string): Target {
  return {
    kind: 'rejected',
    problem: { code: 'invalid_target', detail: `The request target is refused. ${reason}` },
  };
}
