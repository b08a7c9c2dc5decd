/** Heads and fields as RFC 9112 writes them, for `strict.ts`. */

/** Names (in lower case) and values, without the blanks around them. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** Every value of a field. @param name lower case */
export function valuesOf(fields: Fields, name: string): string[] {
  return fields.filter(([candidate]) => candidate === name).map(([, value]) => value);
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const fieldLine = new RegExp(
  `^(${token}):[ \\t]*((?:[!-~\\x80-\\xff](?:[\\t -~\\x80-\\xff]*[!-~\\x80-\\xff])?)?)[ \\t]*$`,
);

interface Head {
  readonly startLine: string;
  readonly fields: Fields;
  readonly end: number;
}

/** Reads a start line with the fields behind it. */
export function readHead(bytes: string, from: number, ofRequest = false): Head | 'partial' | 'malformed' {
  const end = bytes.indexOf('\r\n\r\n', from);
  if (end === -1) return 'partial';
  const [startLine = '', ...lines] = bytes.slice(from, end).split('\r\n');
  const fields = readFields(lines, ofRequest);
  return fields === undefined ? 'malformed' : { startLine, fields, end: end + 4 };
}

/** Reads lines of fields; `undefined` where one is malformed. */
export function readFields(lines: readonly string[], ofRequest = false): Fields | undefined {
  const fields: [string, string][] = [];
  for (const line of lines) {
    const [, name, value] = fieldLine.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    fields.push([name.toLowerCase(), value]);
  }
  // Not every reader takes a tab behind the coding for a blank; before it Node does. Where another protocol is offered, Node does: it reads no further than the
  // head then, and the gateway reads the rest by what Node made of the value.
  const blank = lines.some((line) => /^transfer-encoding:\s*\S.*\t/i.test(line));
  if (ofRequest && blank && !offersProtocol(fields)) return undefined;
  return fields;
}

function offersProtocol(fields: Fields): boolean {
  return valuesOf(fields, 'upgrade').length > 0 && namesInConnection(fields).includes('upgrade');
}

/** What `Connection` names, in lower case. */
export function namesInConnection(fields: Fields): string[] {
  // Some take what old clients tell proxies for themselves.
  const values = [...valuesOf(fields, 'connection'), ...valuesOf(fields, 'proxy-connection')]
    .join(',')
    .toLowerCase();
  return values.split(',').map((each) => each.trim());
}
