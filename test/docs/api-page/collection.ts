/** docs/api.http: the commands of docs/api.md in the format of the REST Client of Visual Studio Code. */
import type { Example } from './page.ts';

/** A request of the collection; variables stand in double braces. */
export interface CollectedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: string | null;
}

const head = `# The calls of docs/api.md, in their order, for the REST Client of Visual Studio Code.
# Written by test/docs/api.test.ts. The token comes from the environment of the editor.

@GATEWAY_URL = http://127.0.0.1:8080
@INTERNAL_URL = http://127.0.0.1:9090
@ADMIN_TOKEN = {{$processEnv ADMIN_TOKEN}}
@FROM = {{$datetime "YYYY-MM-DD" -2 d}}
@TO = {{$datetime "YYYY-MM-DD" -1 d}}
`;

/** The whole file. */
export function collectionOf(examples: readonly Example[]): string {
  const requests = examples.map(({ command }, index) => {
    const { method, url, headers, body } = requestOf(command);
    // Variables stand before the request that comes next: behind a body they would be a part of it.
    const remembered = (examples[index - 1]?.remembers ?? []).map(
      ([variable, place]) => `@${variable} = {{call${index}.response.body.$.${place}}}\n`,
    );
    const request = [`# @name call${index + 1}`, `${method} ${url}`, ...headers].join('\n');
    return `###\n\n${remembered.join('')}${request}\n${body === null ? '' : `\n${body}\n`}`;
  });
  return [head, ...requests].join('\n');
}

/** What a command of the page sends. Throws at an option of curl that no command has had yet. */
export function requestOf(command: string): CollectedRequest {
  const [program, ...words] = wordsOf(command);
  if (program !== 'curl') throw new Error(`not a command of curl: ${command}`);
  let [method, url] = ['GET', ''];
  const headers: string[] = [];
  const query: string[] = [];
  let body: string | null = null;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-g' || word === '-G') continue;
    if (!word.startsWith('-')) url = word;
    else if (word === '-X') method = words.shift() ?? '';
    else if (word === '-H') headers.push(words.shift() ?? '');
    else if (word === '-d') query.push(words.shift() ?? '');
    else if (word === '--json') {
      body = words.shift() ?? '';
      if (method === 'GET') method = 'POST';
      headers.push('Content-Type: application/json');
    } else throw new Error(`an option that is not known: ${word}`);
  }
  return { method, url: query.length === 0 ? url : `${url}?${query.join('&')}`, headers, body };
}

/** Words as a shell reads them. */
function wordsOf(command: string): string[] {
  const word = /(?:'[^']*'|"[^"]*"|[^\s'"\\])+/g;
  return [...command.matchAll(word)].map(([text]) =>
    text.replaceAll(/'([^']*)'|"([^"]*)"|([^'"]+)/g, (_, literal?: string, quoted?: string, bare?: string) =>
      literal === undefined ? (quoted ?? bare ?? '').replaceAll(/\$(\w+)/g, '{{$1}}') : literal,
    ),
  );
}
