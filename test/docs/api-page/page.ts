/** The examples of docs/api.md: commands with the responses that they get. */

/** A command of the page and the response that the page shows for it. */
export interface Example {
  /** Where its title is, for messages. */
  readonly line: number;
  readonly command: string;
  /** As the page shows it: a status line, headers, and a body after an empty line. */
  readonly response: string;
  /** Variables of later commands, and where the response has their values, such as `data[0].id`. */
  readonly remembers: readonly (readonly [name: string, place: string])[];
}

/** A response as it is compared and shown. */
export interface Shown {
  readonly status: string;
  /** Names in lower case; sorted. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON. */
  readonly body: unknown;
}

/** What other headers say belongs to the connection, or is the same everywhere. */
const telling = [
  'content-type',
  'idempotency-replayed',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
  'x-service-enforced',
  'x-service-resolved-tenant',
];

const block = /^```sh\n([^]*?)^```\n+^```http\n([^]*?)^```\n([^]*?)(?=^```sh\n|^## |(?![^]))/gm;

/** Every example, in the order of the page. */
export function examplesOf(page: string): readonly Example[] {
  return [...page.matchAll(block)].map(({ index, 1: command = '', 2: response = '', 3: prose = '' }) => ({
    line: page.slice(0, index).split('\n').length,
    command: command.trim(),
    response,
    remembers: [...prose.matchAll(/`\$(\w+)` is (?:its|the) `([^`]+)`/g)].map(
      ([, name = '', place = '']) => [name, place] as const,
    ),
  }));
}

/** The page with other responses, one for each example. */
export function withResponses(page: string, responses: readonly string[]): string {
  const rest = [...responses];
  return page.replaceAll(/^```http\n[^]*?^```$/gm, () => `\`\`\`http\n${rest.shift() ?? ''}\`\`\``);
}

/** Reads a response, as the page or as `curl -i` shows it; of the headers those that tell something. */
export function readResponse(text: string): Shown {
  const [head = '', ...parts] = text.replaceAll('\r\n', '\n').split('\n\n');
  const [status = '', ...lines] = head.trim().split('\n');
  const headers = lines
    .map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.replace(/^[^:]*: */, '')] as const)
    .filter(([name]) => telling.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const body = parts.join('\n\n').trim();
  const json = headers.some(([name, value]) => name === 'content-type' && value.includes('json'));
  return { status, headers: Object.fromEntries(headers), body: json ? (JSON.parse(body) as unknown) : body };
}

/** A response as the page shows it. */
export function textOf({ status, headers, body }: Shown): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  return `${status}\n${lines.join('')}\n${typeof body === 'string' ? body : formatted(body)}\n`;
}

/** Of a width that the page has room for: what fits stays on one line. */
function formatted(value: unknown, indent = ''): string {
  const oneLine = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
  if (oneLine.length + indent.length <= 110 || typeof value !== 'object' || value === null) return oneLine;
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Array.isArray(value)
    ? value.map((each) => formatted(each, deeper))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${formatted(each, deeper)}`);
  return `${open}\n${members.map((member) => deeper + member).join(',\n')}\n${indent}${close}`;
}

/** What stands at a place such as `data[0].id` of a body. */
export function valueAt(body: unknown, place: string): string {
  const names = place.match(/\w+/g) ?? [];
  const value = names.reduce<unknown>(
    (within, name) => (within as Record<string, unknown> | undefined)?.[name],
    body,
  );
  if (typeof value !== 'string') throw new Error(`the response has no text at ${place}`);
  return value;
}
