/** The paths that readers may take a path for, or why it must be rejected. */
export type Readings =
  | { readonly kind: 'paths'; readonly paths: Iterable<string> }
  | { readonly kind: 'unacceptable'; readonly reason: string };

/**
 * Every path that some reader could understand `path` as: the closure under what servers, frameworks and proxies
 * are known to do with paths, in any order. The results are folded to lower case.
 *
 * Returns `unacceptable` where a reading holds what no honest client sends: dot segments, control bytes, overlong
 * UTF-8, or encodings nested without end.
 *
 * @param path visible ASCII, starts with `/`, its percent-encodings well formed
 */
export function readingsOf(path: string): Readings {
  const asBytes = new Set([path]);
  const reason = close(asBytes, [decodedOnce, ...reshapings], faultInBytes);
  if (reason !== undefined) return { kind: 'unacceptable', reason };
  const asText = new Set(Array.from(asBytes, fold));
  const textReason = close(asText, reshapings, faultInText);
  return textReason === undefined
    ? { kind: 'paths', paths: asText }
    : { kind: 'unacceptable', reason: textReason };
}

type Habit = (path: string) => string;

/** Honest paths have a handful of readings. */
const mostReadings = 200;

/** Applies `habits` to the readings, and again to the results, until nothing new appears or a reading has a fault. */
function close(
  readings: Set<string>,
  habits: readonly Habit[],
  faultIn: (path: string) => string | undefined,
): string | undefined {
  // A loop over a Set also visits what is added during the loop.
  for (const reading of readings) {
    const fault = faultIn(reading);
    if (fault !== undefined) return fault;
    for (const habit of habits) readings.add(habit(reading));
    if (readings.size > mostReadings) return 'Its path can be read in too many ways.';
  }
  return undefined;
}

const encoded = /%([0-9A-Fa-f]{2})/g;

/** Decodes once; each byte becomes one character, and what is not an encoding stays. */
function decodedOnce(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(encoded, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

// Each starts at the beginning of a run only, so that a long one does not take the square of its length. U+0085 is a blank
// for Python, .NET and others, but not for `\s`.
const trailingSpace = /(?<![\s\x85])[\s\x85]+(?=\/|$)/g;
const trailingDots = /(?<![.\s\x85])[.\s\x85]+(?=\/|$)/g;

/** What readers do to a path before they route by it. Each leaves most paths unchanged. */
const reshapings: readonly Habit[] = [
  function backslashesAsSlashes(path) {
    return path.includes('\\') ? path.replaceAll('\\', '/') : path;
  },
  function mergedSlashes(path) {
    return path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
  },
  function withoutParameters(path) {
    return path.includes(';') ? path.replace(/;[^/]*/g, '') : path;
  },
  // Windows opens `admin. ` as `admin`, in any part of a path, and many a program trims what it compares.
  function withoutTrailingSpace(path) {
    return path.replace(trailingSpace, '');
  },
  function withoutTrailingDots(path) {
    return path.replace(trailingDots, '');
  },
  // For a reader that decodes before it splits, an encoded `?` or `#` ends the path.
  function cutAtQuery(path) {
    const end = path.search(/[?#]/);
    return end === -1 ? path : path.slice(0, end);
  },
  // A reader that resolves `//host/path` as a URL reference takes `host` for another host (RFC 3986 §4.2). Browsers' URL
  // parsers skip any further slashes before the host.
  function withoutAuthority(path) {
    return path.startsWith('//') ? path.replace(/^\/{2,}[^/]*/, '') || '/' : path;
  },
];

/**
 * What readers see that ignore case and normalise Unicode: for them full-width `／` is `/` and long `ſ` is `s`.
 */
function fold(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8').normalize('NFKC').toLowerCase();
}

/**
 * A segment of dots alone, or of dots and blanks. Windows takes `.. ` and `. .` for dot segments, its old versions took
 * `...` for two levels up, and a reader that drops a dot from the end makes `..` of it.
 */
const dotSegment = /(?:^|[/\\])(?=[\s\x85]*\.)[.\s\x85]+(?:;[^/\\]*)?(?=[/\\?#]|$)/;
// eslint-disable-next-line no-control-regex
const controlByte = /[\x00-\x1f\x7f]/;
const overlong = /[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]{2}/;

function faultInText(path: string): string | undefined {
  return dotSegment.test(path) ? 'Its path holds a dot segment.' : undefined;
}

function faultInBytes(path: string): string | undefined {
  if (controlByte.test(path)) return 'Its path holds a control byte.';
  if (overlong.test(path)) return 'Its path holds overlong UTF-8.';
  return faultInText(path);
}
