/** What readers may take a path for, or why no reader should see it at all. */
export type Readings =
  | { readonly kind: 'paths'; readonly paths: Iterable<string> }
  | { readonly kind: 'unacceptable'; readonly reason: string };

/**
 * Every path that some reader could understand `path` as: the closure under what servers, frameworks and proxies
 * are known to do with paths, in any order. The results are folded to lower case.
 *
 * Answers `unacceptable` where a reading holds what no honest client sends: dot segments, control bytes, overlong
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

/** Honest paths have a handful. */
const mostReadings = 200;

/** Adds what `habits` make of the readings, and of what they made, until nothing new appears or one has a fault. */
function close(
  readings: Set<string>,
  habits: readonly Habit[],
  faultIn: (path: string) => string | undefined,
): string | undefined {
  // A Set hands out what is added while it is walked.
  for (const reading of readings) {
    const fault = faultIn(reading);
    if (fault !== undefined) return fault;
    for (const habit of habits) readings.add(habit(reading));
    if (readings.size > mostReadings) return 'Its path can be read in too many ways.';
  }
  return undefined;
}

const encoded = /%([0-9A-Fa-f]{2})/g;

/** Bytes become characters one to one; what is not an encoding stays. */
function decodedOnce(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(encoded, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** What readers do to a path's shape before they route by it. Each leaves most paths as they are. */
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
  // A reader that decodes before it splits sees the query or the fragment begin earlier.
  function cutAtQuery(path) {
    const end = path.search(/[?#]/);
    return end === -1 ? path : path.slice(0, end);
  },
  // `//host/path` is a reference to another host for whoever resolves it as a URL (RFC 3986 §4.2); browsers' URL
  // parsers skip any further slashes before the host.
  function withoutAuthority(path) {
    return path.startsWith('//') ? path.replace(/^\/{2,}[^/]*/, '') || '/' : path;
  },
];

/**
 * As for a reader that ignores case and one that normalises Unicode: to them full-width `／` is `/` and long `ſ`
 * is `s`.
 */
function fold(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8').normalize('NFKC').toLowerCase();
}

const dotSegment = /(?:^|[/\\])\.{1,2}(?:;[^/\\]*)?(?=[/\\?#]|$)/;
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
