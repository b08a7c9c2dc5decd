import { managementPath } from '../../domain/paths.ts';
import type { Problem } from '../../domain/problem.ts';
import { hasProgram, mayBeServedElsewhere, otherFormOf } from './front-controllers.ts';
import { readingsBehindPrograms, readingsOf } from './path-readings.ts';

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
 * `%2F`. A path that only some products serve under another one (`front-controllers.ts`) is rejected if that one is of a
 * route that asks for more.
 *
 * @param prefixes prefixes of the routes; each matches whole segments, and the longest match wins
 * @param asksMore whether the first route asks a client for something that the second one does not ask for, both given
 * as indexes
 * @throws Error if two prefixes are equal, ignoring case
 */
export function compileTargets(
  prefixes: readonly string[],
  asksMore: (route: number, than: number) => boolean = () => true,
): (rawTarget: string) => Target {
  const places = placesOf(prefixes, asksMore);
  const { folded } = places;
  if (new Set(folded.slice(1)).size < prefixes.length) {
    throw new Error('two routes have the same prefix, upper and lower case being one');
  }

  return (rawTarget) => {
    const query = rawTarget.indexOf('?');
    const path = query === -1 ? rawTarget : rawTarget.slice(0, query);
    if (!plainPath.test(path)) return readUnusual(rawTarget, path, places);
    if (query !== -1 && !visibleAscii.test(rawTarget)) return notVisible;
    const place = placeOf(places.written, path);
    const lower = path.toLowerCase();
    const inLowerCase = placeOf(folded, lower);
    if (inLowerCase !== place) return elsewhere(places, inLowerCase, place);
    return mayBeServedElsewhere.test(lower)
      ? unlessServedElsewhere([lower], places, place)
      : targetAt(places, place);
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

function readUnusual(rawTarget: string, path: string, places: Places): Target {
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
    const other = placeOf(places.folded, reading);
    if (other !== place) return elsewhere(places, other, place);
  }
  return unlessServedElsewhere(readings.paths, places, place);
}

/** Rejects a path that some services would serve as a path of a route that asks for more. */
function unlessServedElsewhere(paths: readonly string[], places: Places, place: number): Target {
  const stricter = places.stricter[place] ?? [];
  const readings =
    stricter.length === 0 ? ({ kind: 'paths', paths } as const) : readingsBehindPrograms(paths);
  if (readings.kind === 'unacceptable') return rejected(readings.reason);
  for (const reading of readings.paths) {
    const plainly = placeOf(places.folded, reading);
    for (const other of stricter) {
      const { folded, otherForms } = places;
      const below = isWithin(reading, folded[other] as string)
        ? other === plainly
        : (otherForms[other] as RegExp).test(reading);
      if (below) return elsewhere(places, other, place);
    }
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
  /** The prefixes in lower case. */
  readonly folded: readonly string[];
  readonly otherForms: readonly RegExp[];
  readonly targets: readonly Target[];
  /** For each place the places that ask for more (see {@link compileTargets}). */
  readonly stricter: readonly (readonly number[])[];
}

function placesOf(prefixes: readonly string[], asksMore: (route: number, than: number) => boolean): Places {
  const routes = prefixes
    // The prefix `/` becomes the empty string, which every path starts with.
    .map((prefix, route) => ({
      prefix: prefix.replace(/(?<!\/)\/+$/, ''),
      target: { kind: 'route', route } as const,
    }))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  const written = [managementPath, ...routes.map(({ prefix }) => prefix)];
  const folded = written.map((prefix) => prefix.toLowerCase());
  const targets: Target[] = [{ kind: 'management' }, ...routes.map(({ target }) => target)];
  // A route for a script itself is taken at its word: what follows the script is part of that route.
  const stricterThan = (than: Target, at: number): number[] =>
    than.kind !== 'route' || hasProgram(`${folded[at] ?? ''}/x`)
      ? []
      : [...targets.keys()].filter((place) => {
          const target = targets[place] as Target;
          return target.kind !== 'route' || (target !== than && asksMore(target.route, than.route));
        });
  const otherForms = folded.map(otherFormOf);
  return { written, folded, otherForms, targets, stricter: targets.map(stricterThan) };
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
      : `Some servers would read its path as one below \`${meant}\`. If you mean that path, begin it with exactly this text: the same case, no encodings, parameters, scripts or slashes in a row.`,
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
