import { preformattedHtml } from './html.ts';
import type { Member, Place } from './operation-index.ts';

/** Shell variables for the API's address and for the credential, keyed by the operation's security scheme. */
const variables: Readonly<Record<string, { readonly address: string; readonly credential: string }>> = {
  apiKey: { address: '$API_URL', credential: '$API_KEY' },
  operatorToken: { address: '$INTERNAL_URL', credential: '$ADMIN_TOKEN' },
};
/** Optional header that the example calls include anyway. */
const advised = 'Idempotency-Key';

/** Renders an example `curl` call of an operation, filled in with the examples of its parameters and body. */
export function callHtml(place: Place, parameters: readonly Member[], body: unknown): string {
  const { method, path, operation } = place;
  const [scheme = ''] = Object.keys(operation.security[0] ?? {});
  const { address = '', credential = '' } = variables[scheme] ?? {};
  const examples = (place: string): [string, string][] =>
    parameters
      .filter(({ in: where, required, name }) => where === place && (required === true || name === advised))
      .map((parameter) => [String(parameter['name']), exampleOf(parameter)]);
  const paths = new Map(examples('path'));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(paths.get(name) ?? ''),
  );
  const query = new URLSearchParams(examples('query')).toString();
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "${address}${filled}${query && `?${query}`}"`,
    `-H "Authorization: Bearer ${credential}"`,
    ...examples('header').map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`]),
  ];
  return `<h4>Call</h4>${preformattedHtml('Call', lines.join(' \\\n  '))}`;
}

function exampleOf({ example, schema }: Member): string {
  const [first] = (schema as { readonly examples?: readonly unknown[] }).examples ?? [];
  return String(example ?? first);
}

/** Quotes a string for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
