import { behindPrograms, hasProgram } from './front-controllers.ts';

/** All the ways in which servers behind the gateway could read a path, or the reason to reject it. */
export type Readings =
  | { readonly kind: 'paths'; readonly paths: readonly string[] }
  | { readonly kind: 'unacceptable'; readonly reason: string };

/**
 * Returns all readings of `path`, in lower case: every path that some server, framework or proxy could take it for. To
 * find them, the function applies all known habits of such software, in any order, until no new reading appears.
 *
 * Returns `unacceptable` if a reading contains something that no honest client sends (dot segments, control bytes,
 * overlong UTF-8, stacks of accents), or if there are more readings than {@link most} allows, for example because of
 * deeply nested encodings.
 *
 * @param path visible ASCII that starts with `/` and has well-formed percent-encodings
 */
export function readingsOf(path: string): Readings {
  const left: Budget = { ...most };
  const asBytes = new Set<string>();
  const reason = close([path], asBytes, [decodedOnce, ...reshapings], faultInBytes, left);
  if (reason !== undefined) return { kind: 'unacceptable', reason };
  const folded: string[] = [];
  const paths: string[] = [];
  for (const reading of asBytes) {
    // An ASCII reading has already been reshaped above, and reshaping it again in lower case would yield nothing new.
    if (ascii.test(reading)) {
      paths.push(reading.toLowerCase());
      continue;
    }
    const text = Buffer.from(reading, 'latin1').toString('utf8');
    if (stackOfMarks.test(text))
      return { kind: 'unacceptable', reason: 'Its path holds a stack of accents.' };
    folded.push(fold(text));
  }
  if (folded.length === 0) return { kind: 'paths', paths };
  const asText = new Set<string>();
  const textReason = close(folded, asText, [withoutIgnorable, ...reshapings], faultInText, left);
  if (textReason !== undefined) return { kind: 'unacceptable', reason: textReason };
  return { kind: 'paths', paths: [...paths, ...asText] };
}

/**
 * Returns `paths`, the readings of one path, together with the paths that a service could serve under them because they
 * name a program of it.
 */
export function readingsBehindPrograms(paths: readonly string[]): Readings {
  if (!paths.some(hasProgram)) return { kind: 'paths', paths };
  const all = new Set<string>();
  const reason = close(paths, all, reshapings, faultInText, { ...most }, behindPrograms);
  return reason === undefined ? { kind: 'paths', paths: [...all] } : { kind: 'unacceptable', reason };
}

/**
 * Limits on the work spent on one path, whose sender is not known yet: the number of readings, their total length in
 * characters, and the number of segments in each. Honest paths have a handful of readings. A path with one `%2F` has at
 * least two, which share the 32 Ki characters. So the path may be up to 16 KiB long: the default size limit of a head.
 */
const most = { readings: 64, characters: 32 * 1024, segments: 128 } as const;

/** What is left of {@link most}: how many more readings and characters a path may have. */
interface Budget {
  readings: number;
  characters: number;
}

type Habit = (path: string) => string;

/**
 * Fills `readings` with `paths` and everything that `habits` and `more` turn them into, until no new path appears.
 *
 * @returns the reason to reject the path, if a reading is faulty or the budget is used up
 */
function close(
  paths: readonly string[],
  readings: Set<string>,
  habits: readonly Habit[],
  faultIn: (path: string) => string | undefined,
  left: Budget,
  more: (path: string) => Iterable<string> = () => [],
): string | undefined {
  const add = (reading: string): boolean => {
    left.characters -= reading.length;
    if (left.characters < 0 || hasManySegments(reading)) return false;
    const before = readings.size;
    readings.add(withShortRuns(reading));
    left.readings -= readings.size - before;
    return left.readings >= 0;
  };
  if (!paths.every(add)) return tooManyReadings;
  // A loop over a Set also visits elements added during the loop.
  for (const reading of readings) {
    const fault = faultIn(reading);
    if (fault !== undefined) return fault;
    for (const habit of habits) {
      const other = habit(reading);
      if (other !== reading && !add(other)) return tooManyReadings;
    }
    for (const other of more(reading)) if (other !== reading && !add(other)) return tooManyReadings;
  }
  return undefined;
}

const tooManyReadings =
  'Its path can be read in too many ways: send it shorter, or with fewer encodings, parameters, scripts and slashes in a row.';

function hasManySegments(path: string): boolean {
  let left = most.segments;
  for (let slash = 0; slash !== -1 && left >= 0; slash = path.indexOf('/', slash + 1)) left -= 1;
  return left < 0;
}

/**
 * Shortens runs of slashes to two. No server and no route distinguishes three slashes in a row from two, so one reading
 * stands for all such paths.
 */
function withShortRuns(path: string): string {
  return path.includes('///') ? path.replace(/\/{3,}/g, '//') : path;
}

/** Decodes a path once: each encoded byte becomes one character, and everything else stays as it is. */
function decodedOnce(path: string): string {
  const first = path.indexOf('%');
  if (first === -1) return path;
  const bytes = Buffer.from(path, 'latin1');
  let length = first;
  for (let i = first; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    const decoded = byte === percent ? byteOf(bytes[i + 1], bytes[i + 2]) : undefined;
    if (decoded !== undefined) i += 2;
    bytes[length++] = decoded ?? byte;
  }
  return bytes.toString('latin1', 0, length);
}

const percent = 0x25;

/** Returns the byte that two hexadecimal digits stand for; `undefined` for any other characters. */
function byteOf(high: number | undefined, low: number | undefined): number | undefined {
  const value = ((hexDigits[high ?? 0] as number) << 4) | (hexDigits[low ?? 0] as number);
  return value < 0 ? undefined : value;
}

/** Value of each hexadecimal digit, indexed by character code; negative for all other bytes. */
const hexDigits = new Int8Array(256).fill(-1);
for (const digit of '0123456789abcdefABCDEF') hexDigits[digit.charCodeAt(0)] = Number.parseInt(digit, 16);

// `trailingSpace` and `trailingDots` match only at the start of a run. Otherwise the time would grow with the square of
// the run's length. Python, .NET and others treat U+0085 as a blank, but `\s` does not match it. Servers that decode
// paths like forms treat `+` as a blank.
const trailingSpace = /(?<![\s\x85+])[\s\x85+]+(?=\/|$)/g;
const trailingDots = /(?<![.\s\x85+])[.\s\x85+]+(?=\/|$)/g;

/** Changes that some servers make to a path before they route it. Each leaves most paths unchanged. */
const reshapings: readonly Habit[] = [
  function backslashesAsSlashes(path) {
    return path.includes('\\') ? path.replaceAll('\\', '/') : path;
  },
  function mergedSlashes(path) {
    return path.includes('//') ? path.replaceAll('//', '/') : path;
  },
  function withoutParameters(path) {
    return path.includes(';') ? path.replace(/;[^/]*/g, '') : path;
  },
  // Windows opens `admin. ` as `admin`, anywhere in a path. Many programs also trim text before they compare it.
  function withoutTrailingSpace(path) {
    return path.replace(trailingSpace, '');
  },
  function withoutTrailingDots(path) {
    return path.includes('.') ? path.replace(trailingDots, '') : path;
  },
  // If a server decodes a path before it splits off the query, an encoded `?` or `#` ends the path.
  function cutAtQuery(path) {
    const end = path.search(/[?#]/);
    return end === -1 ? path : path.slice(0, end);
  },
  // A server that resolves `//host/path` as a URL reference takes `host` for another host (RFC 3986 §4.2). Browsers'
  // URL parsers skip any further slashes before the host.
  function withoutAuthority(path) {
    return path.startsWith('//') ? path.replace(/^\/\/[^/]*/, '') || '/' : path;
  },
];

/**
 * Folds a path like a server that ignores case and normalises Unicode. To such a server, full-width `／` is `/`, and
 * long `ſ` is `s`. Converting to lower case, upper case and lower case again makes letters equal if they map to the
 * same letter in either direction, such as `ß` and `ẞ`, or dotless `ı` and `i`. Java's equalsIgnoreCase and Python's
 * re.IGNORECASE do the same. `İ` becomes `i` plus a combining dot, which is removed.
 */
function fold(text: string): string {
  const folded = text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase();
  return folded.replaceAll('i\u0307', 'i');
}

/**
 * Removes the characters that .NET's culture-sensitive comparisons and database collations ignore (Unicode,
 * Default_Ignorable_Code_Point).
 */
function withoutIgnorable(text: string): string {
  return text.replace(/\p{Default_Ignorable_Code_Point}+/gu, '');
}

/**
 * Matches 31 combining marks in a row. Real text never has that many (UAX #15 §13, Stream-Safe Text Format). Unicode
 * normalisation sorts the marks in a row, which takes time that grows with the square of their number.
 */
const stackOfMarks = /\p{M}{31}/u;
// eslint-disable-next-line no-control-regex
const ascii = /^[\x00-\x7f]*$/;

/**
 * Matches a segment of dots, or of dots and blanks. Windows treats `.. ` and `. .` as dot segments. Old versions of
 * Windows took `...` to mean two levels up. A server that drops a trailing dot turns `...` into `..`.
 */
const dotSegment = /[/\\][\s\x85+]*\.[.\s\x85+]*(?:;[^/\\]*)?(?:[/\\?#]|$)/;
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
