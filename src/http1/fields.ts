import { MessageFault } from './message-fault.ts';

/** Characters allowed in a method and in a field's name (RFC 9110 §5.6.2). */
export const token = /^[\w!#$%&'*+.^`|~-]+$/;
/**
 * Matches field lines, each with its CRLF: a name (RFC 9110 §5.6.2), and a value in Latin-1 (§5.5). One search over all
 * lines takes much less time than one for each name and each value.
 */
const fieldLines = /(?:[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/y;

/** Whether `text` consists of valid field lines from offset `from` on. */
function areFieldLines(text: string, from: number): boolean {
  fieldLines.lastIndex = from;
  return fieldLines.test(text);
}

/**
 * Writes field lines (RFC 9112 §5).
 *
 * @param headers flat list of names and values
 * @throws Error if a name is not a token, or if a value would end its line early
 */
export function writeFieldLines(headers: readonly string[]): string {
  let lines = '';
  for (let i = 0; i < headers.length; i += 2)
    lines += writeFieldLine(headers[i] as string, headers[i + 1] as string);
  requireFieldLines(lines, headers.length / 2);
  return lines;
}

/** Writes one field line. What has been written is to be checked by {@link requireFieldLines}. */
export function writeFieldLine(name: string, value: string): string {
  if (name.includes(':')) throw new Error('a header name that is not a token');
  return `${name}: ${value}\r\n`;
}

/**
 * Checks lines that were written before they are sent.
 *
 * @param count number of headers that they were written from
 * @throws Error if a name is not a token, or if a value ends its line early
 */
export function requireFieldLines(lines: string, count: number): void {
  let found = 0;
  for (let at = lines.indexOf('\n'); at !== -1; at = lines.indexOf('\n', at + 1)) found += 1;
  if (found !== count || !areFieldLines(lines, 0))
    throw new Error('a header whose name or value is not one line');
}

/** Matches a length of at most 15 digits, because JavaScript cannot represent longer numbers exactly. */
export const lengthForm = /^\d{1,15}$/;

/**
 * Reads field lines (RFC 9112 §5) strictly: each ends with CRLF, nothing comes between a name and its colon, and no
 * line is folded. Another parser could understand a malformed line differently, so it is an error.
 *
 * @param text Latin-1, including the CRLF of every line
 * @param from offset of the first line
 * @returns flat list of names and values
 * @throws MessageFault if a line is malformed
 */
export function parseFieldLines(text: string, from = 0): string[] {
  if (!areFieldLines(text, from)) throw new MessageFault(faultOfLines(text, from));
  const fields: string[] = [];
  for (let at = from; at < text.length;) {
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    fields.push(text.slice(at, colon), trimmed(text, colon + 1, end));
    at = end + 2;
  }
  return fields;
}

/** Returns the first fault in field lines that are not valid. */
function faultOfLines(text: string, from: number): string {
  for (let at = from; at < text.length;) {
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    if (end === -1 || colon === -1 || colon > end) return 'a header without a colon';
    if (!token.test(text.slice(at, colon))) return 'a header name that is not a token';
    if (!areFieldLines(text.slice(at, end + 2), 0)) return 'a control character in a header';
    at = end + 2;
  }
  return 'a header that is not one line';
}

/** Returns the value without the optional white space around it (RFC 9110 §5.5). */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Whether a comma-separated list in lower case contains `option` (RFC 9110 §5.6.1). */
export function hasOption(list: string, option: string): boolean {
  return list.includes(option) && list.split(',').some((entry) => entry.trim() === option);
}

/** Returns bytes as Latin-1 text. `toString('latin1')` does the same, after checks that are not needed here. */
export function latin1(bytes: Uint8Array, from: number, to: number): string {
  return (bytes as Latin1Bytes).latin1Slice(from, to);
}

/** Buffer with a method that every Buffer has but Node's type declarations leave out. */
interface Latin1Bytes extends Uint8Array {
  latin1Slice(start: number, end: number): string;
}
