import { callHtml } from './call-html.ts';
import { escaped, inline, jsonHtml, paragraphs } from './html.ts';
import { searchText, type Described, type Member, type Place } from './operation-index.ts';
import { memberHtml, typeHtml } from './schema-html.ts';

/** Renders an operation with its parameters, body and responses. */
export function operationHtml(document: Described, place: Place): string {
  const { method, path, operation } = place;
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const resolve = (value: Member): Member => resolved(document, value);
  return [
    `<article id="${operationId}" data-text="${escaped(searchText(place))}"><h3>${escaped(summary)}</h3>`,
    `<p class="call"><b>${method}</b> <code>${escaped(path)}</code></p>${paragraphs(description)}`,
    callHtml(place, parameters.map(resolve), requestBody && exampleOf(requestBody.content, resolve)),
    parametersHtml(parameters.map(resolve)),
    requestBody === undefined ? '' : bodyHtml('Body', requestBody.content, resolve),
    '<h4>Responses</h4>',
    Object.entries(responses)
      .map(([status, response]) => responseHtml(status, resolve(response), resolve))
      .join(''),
    '</article>',
  ].join('');
}

function parametersHtml(parameters: readonly Member[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: where, schema, required, description }) =>
    memberHtml(
      where === 'query' ? `?${String(name)}` : String(name),
      schema as Member,
      required === true,
      String(description),
    ),
  );
  return `<h4>Parameters</h4><dl>${rows.join('')}</dl>`;
}

function bodyHtml(
  title: string,
  content: Readonly<Record<string, Member>>,
  resolve: (value: Member) => Member,
): string {
  const parts = Object.entries(content).map(([type, { schema, examples }]) => {
    const [example] = Object.values((examples ?? {}) as Record<string, Member>);
    const shown = example === undefined ? '' : jsonHtml(`Example, ${type}`, resolve(example)['value']);
    return `<p>${escaped(type)}: ${typeHtml(schema as Member)}</p>${shown}`;
  });
  return `<h4>${title}</h4>${parts.join('')}`;
}

/** Returns the first example of a JSON body. */
function exampleOf(content: Readonly<Record<string, Member>>, resolve: (value: Member) => Member): unknown {
  const [example = {}] = Object.values(
    (content['application/json']?.['examples'] ?? {}) as Record<string, Member>,
  );
  return resolve(example)['value'];
}

/** Renders a response: a success with its example, or a rejection with one example per problem code. */
function responseHtml(status: string, response: Member, resolve: (value: Member) => Member): string {
  const {
    description,
    headers = {},
    content = {},
  } = response as {
    readonly description: string;
    readonly headers?: Member;
    readonly content?: Readonly<Record<string, Member>>;
  };
  const names = Object.keys(headers).map((name) => `<code>${name}</code>`);
  const problems = content['application/problem+json'];
  const list = names.length === 0 ? '' : `<p class="headers">Headers: ${names.join(', ')}</p>`;
  if (problems === undefined)
    return `<details open><summary>${status} ${inline(description)}</summary>${list}${bodyHtml('', content, resolve).replace('<h4></h4>', '')}</details>`;
  const codes = Object.entries(problems['examples'] as Record<string, Member>);
  return (
    `<details><summary>${status} ${codes.map(([code]) => `<code>${code}</code>`).join(' ')}</summary>${list}` +
    codes.map(([code, example]) => jsonHtml(`Example of ${code}`, resolve(example)['value'])).join('') +
    '</details>'
  );
}

function resolved(document: Described, value: Member): Member {
  const { $ref: ref } = value;
  if (typeof ref !== 'string') return value;
  const [, , kind = '', name = ''] = ref.split('/');
  return document.components[kind]?.[name] ?? {};
}
