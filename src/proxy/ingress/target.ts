import { managementPath } from '../../domain/paths.ts';
import type { Problem } from '../../domain/problem.ts';
import { readingsOf } from './path-readings.ts';

/** Destination of a request target. `route` is an index into the list given to {@link compileTargets}. */
export type Target =
  | { readonly kind: 'management' }
  | { readonly kind: 'route'; readonly route: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected'; readonly problem: Problem };

/**
 * Creates the function that checks and routes request targets. It works on the raw bytes. No other code does any
 * routing, and the upstream gets the checked path unchanged.
 *
 * A path is rejected if a server behind the gateway could take it for a path of another route; `path-readings.ts` lists
 * the habits of careless servers. A path that leads to the same route in every reading passes byte for byte, even with
 * `%2F`.
 *
 * @param prefixes prefixes of the routes; each matches whole segments, and the longest match wins
 * @throws Error if two prefixes are equal, ignoring case
 */
export function compileTargets(prefixes: readonly string[]): (rawTarget: string) => Target {
  const places = placesOf(prefixes);
  const folded = places.written.map((prefix) => prefix.toLowerCase());
  if (new Set(folded.slice(1)).size < prefixes.length) {
    throw new Error('two routes have the same prefix, upper and lower case being one');
  }

  return (rawTarget) => {
    const query = rawTarget.indexOf('?');
    const path = query === -1 ? rawTarget : rawTarget.slice(0, query);
    if (!plainPath.test(path)) return readUnusual(rawTarget, path, places, folded);
    if (query !== -1 && !visibleAscii.test(rawTarget)) return notVisible;
    const place = placeOf(places.written, path);
    const inLowerCase = placeOf(folded, path.toLowerCase());
    return inLowerCase === place ? targetAt(places, place) : elsewhere(places, inLowerCase, place);
  };
}

/**
 * Matches a path that has no encodings, parameters, `+` or empty segments, and no segment that begins or ends with a
 * dot. Servers can disagree only about the case of such a path.
 */
const plainPath = /^(?:\/|(?:\/[\w~!$&'()*,=:@-]+(?:\.+[\w~!$&'()*,=:@-]+)*)+\/?)$/;
const visibleAscii = /^[!-"$-~]*$/;
const malformedEncoding = /%(?![0-9A-Fa-f]{2})/;

const notVisible = rejected('It holds a `#`, or bytes that are not visible ASCII.');
const none: Target = { kind: 'none' };

function readUnusual(rawTarget: string, path: string, places: Places, folded: readonly string[]): Target {
  // Targets in absolute form or authority form, and `*` (RFC 9112 §3.2), are not served.
  if (!path.startsWith('/')) return rejected('It must be a path that starts with `/`.');
  if (!visibleAscii.test(rawTarget)) return notVisible;
  if (path.includes('\\')) return rejected('Its path holds a backslash.');
  // Decoders disagree about malformed encodings: some keep them, some drop them, and some decode `%uXXXX`.
  if (malformedEncoding.test(path)) return rejected('Its path holds a malformed percent-encoding.');
  const readings = readingsOf(path);
  if (readings.kind === 'unacceptable') return rejected(readings.reason);
  const place = placeOf(places.written, path);
  for (const reading of readings.paths) {
    const other = placeOf(folded, reading);
    if (other !== place) return elsewhere(places, other, place);
  }
  return targetAt(places, place);
}

/**
 * Creates the function that names a target for logs and metrics: the management path, a configured prefix, or `none`,
 * but never text from the client.
 */
export function targetNames(prefixes: readonly string[]): (target: Target) => string {
  return (target) => {
    if (target.kind === 'route') return prefixes[target.route] ?? 'none';
    return target.kind === 'management' ? managementPath : 'none';
  };
}

/** Prefixes and their targets, in the same order: the management path first, then the routes, longest prefix first. */
interface Places {
  readonly written: readonly string[];
  readonly targets: readonly Target[];
}

function placesOf(prefixes: readonly string[]): Places {
  const routes = prefixes
    // The prefix `/` becomes the empty string, which every path starts with.
    .map((prefix, route) => ({
      prefix: prefix.replace(/(?<!\/)\/+$/, ''),
      target: { kind: 'route', route } as const,
    }))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  return {
    written: [managementPath, ...routes.map(({ prefix }) => prefix)],
    targets: [{ kind: 'management' }, ...routes.map(({ target }) => target)],
  };
}

/** Returns the index of the first prefix that contains `path`; -1 if none does. */
function placeOf(prefixes: readonly string[], path: string): number {
  for (let i = 0; i < prefixes.length; i++) if (isWithin(path, prefixes[i] as string)) return i;
  return -1;
}

function targetAt({ targets }: Places, place: number): Target {
  return targets[place] ?? none;
}

/**
 * Rejects a path that some server would take for a path of another route. The detail may name the other route's prefix,
 * because the client has written that prefix in some spelling.
 */
function elsewhere({ written }: Places, read: number, place: number): Target {
  const meant = written[read] ?? '';
  return rejected(
    meant === ''
      ? `Some servers would not read its path as one below \`${written[place] ?? ''}\`: send only plain characters there.`
      : `Some servers would read its path as one below \`${meant}\`. If you mean that path, begin it with exactly this text: the same case, no encodings, parameters or slashes in a row.`,
  );
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
