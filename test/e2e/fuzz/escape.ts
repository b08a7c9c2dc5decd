/**
 * Bytes as people can read, paste and replay them: one line a line, everything odd as an escape, and what is repeated
 * often as `\*500{piece}`.
 */
export function escape(bytes: string): string {
  return escapeRepeats(bytes).replace(/\\n(?!$)/g, '\\n\n');
}

/** The bytes again; line breaks of the text itself mean nothing. */
export function unescape(text: string): string {
  const joined = text.replace(/\r?\n/g, '');
  return joined.replace(
    /\\(?:\*(\d+)\{((?:[^\\}]|\\.)*)\}|x([0-9a-f]{2})|(.))/g,
    (_, ...found: (string | undefined)[]) => {
      const [times, piece = '', code, char = ''] = found;
      if (times !== undefined) return unescape(piece).repeat(Number(times));
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return byName[char] ?? char;
    },
  );
}

function escapeRepeats(bytes: string): string {
  let text = '';
  let at = 0;
  for (const { 0: whole, 1: piece = '', index } of bytes.matchAll(/([^]{1,60}?)\1{15,}/g)) {
    text += `${escapeChars(bytes.slice(at, index))}\\*${whole.length / piece.length}{${escapeChars(piece)}}`;
    at = index + whole.length;
  }
  return text + escapeChars(bytes.slice(at));
}

function escapeChars(bytes: string): string {
  return bytes.replace(/[^ -~]|[\\{}]/g, (char) => named[char] ?? `\\x${hex(char)}`);
}

const named: Readonly<Record<string, string>> = { '\r': '\\r', '\n': '\\n', '\t': '\\t', '\\': '\\\\' };
const byName: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', '\\': '\\' };

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(2, '0');
}
