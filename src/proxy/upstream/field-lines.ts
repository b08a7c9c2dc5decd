import { ResponseFault } from './errors.ts';

const token = /^[\w!#$%&'*+.^`|~-]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Reads field lines (RFC 9112 §5), as strictly as they are defined: each ends with CRLF, nothing stands between a name
 * and its colon, nothing is folded. Another reader could understand a malformed line differently, so it is an error.
 *
 * @param text Latin-1; every line with its CRLF
 * @returns flat list of names and values
 * @throws ResponseFault
 */
export function parseFieldLines(text: string, from = 0): string[] {
  const fields: string[] = [];
  for (let at = from; at < text.length;) {
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    if (end === -1 || colon === -1 || colon > end) throw new ResponseFault('a header without a colon');
    const name = text.slice(at, colon);
    const value = trimmed(text, colon + 1, end);
    if (!token.test(name)) throw new ResponseFault('a header name that is not a token');
    if (!fieldValue.test(value)) throw new ResponseFault('a control character in a header');
    fields.push(name, value);
    at = end + 2;
  }
  return fields;
}

/** The value without the optional white space around it (RFC 9110 §5.5). */
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
