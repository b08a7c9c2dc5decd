/** What the operations of docs/api.md take and respond. */
import type { Json } from '../openapi/types.ts';
import { memberRows, row, table, type SchemaViews } from './tables.ts';
import { typeWords } from './words.ts';

/** One operation with the document that describes it. */
export interface PageOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
  readonly document: Json;
}

/** The operations of a document. */
export function operationsOf(document: Json): readonly PageOperation[] {
  return Object.entries(document['paths'] as Record<string, Record<string, Json>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
        document,
      })),
  );
}

/** Codes with their statuses that every operation of a document may respond. */
function commonCodes(document: Json): ReadonlySet<string> {
  const [first = [], ...others] = operationsOf(document).map((each) =>
    errorsOf(each).flatMap(codesWithStatus),
  );
  return new Set(first.filter((code) => others.every((codes) => codes.includes(code))));
}

/** The same in words. */
export function commonWords(document: Json): string {
  const common = [...commonCodes(document)].map((code) => code.split(' '));
  const statuses = new Set(common.map(([status = '']) => status));
  return [...statuses]
    .map((status) => errorWords([status, common.flatMap(([of, code = '']) => (of === status ? [code] : []))]))
    .join('; ');
}

/** The block of an operation. */
export function operationBlock(each: PageOperation, views: SchemaViews): string {
  const { method, path, operation, document } = each;
  const body = bodyOf(operation, document);
  const rows = [
    ...parameterRows(each, views),
    ...(body === undefined ? [] : memberRows(body, views, ['body'])),
  ];
  return [
    `<details><summary><code>${method} ${path}</code>: parameters, body and responses</summary>`,
    String(operation['description']),
    ...(body?.['minProperties'] === undefined ? [] : ['The body has at least one of its members.']),
    table(['in', 'name', 'type', ''], rows),
    `Responds ${[...successWords(each, views), ...otherErrors(each)].join('; ')}.`,
    '</details>',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function bodyOf(operation: Json, document: Json): Json | undefined {
  const body = operation['requestBody'] as
    { readonly content: Record<string, { readonly schema: Json }> } | undefined;
  return body && resolved(document, body.content['application/json']?.schema ?? {});
}

/** Of the path and the query; headers are the same for all calls of a kind, and told with the rules for all. */
function parameterRows({ operation, document }: PageOperation, views: SchemaViews): string[] {
  return (operation['parameters'] as Json[])
    .map((parameter) => resolved(document, parameter))
    .filter(({ in: where }) => where !== 'header')
    .map(({ name, in: where, schema, required, description }) =>
      row([
        String(where),
        `\`${String(name)}\`${required === true ? '' : ' ?'}`,
        typeWords(schema as Json, views.linkTo),
        String(description),
      ]),
    );
}

/** Headers that come with every response of their kind. */
const everywhere = new Set(['X-Request-Id', 'X-Service-Resolved-Tenant', 'Vary', 'Content-Disposition']);

function successWords({ operation, document }: PageOperation, { linkTo }: SchemaViews): string[] {
  return Object.entries(operation['responses'] as Record<string, Json>)
    .filter(([status]) => status < '400')
    .map(([status, response]) => {
      const content = (response['content'] ?? {}) as Record<string, { readonly schema: Json }>;
      const headers = Object.keys((response['headers'] ?? {}) as Json).filter(
        (name) => !everywhere.has(name),
      );
      const csv = 'text/csv' in content ? ', or CSV' : '';
      const may =
        headers.length === 0 ? '' : ` (optional headers: ${headers.map((name) => `\`${name}\``).join(', ')})`;
      const body = content['application/json'];
      const words =
        body === undefined
          ? 'text/event-stream' in content
            ? 'with a stream of Server-Sent Events'
            : 'without a body'
          : `with ${schemaWords(body.schema, document, linkTo)}${csv}`;
      return `${status} ${words}${may}`;
    });
}

/** A link to the table of a schema, or to that of the rows of a page. */
function schemaWords(schema: Json, document: Json, linkTo: (name: string) => string): string {
  const { properties } = resolved(document, schema) as { readonly properties: Record<string, Json> };
  return isPage(properties)
    ? `a [page](#pages) of ${typeWords(properties['data']?.['items'] as Json, linkTo)}`
    : typeWords(schema, linkTo);
}

/** Whether a body with these members is a page and nothing else. */
export function isPage(properties: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(properties).join() === 'data,has_more,next_cursor';
}

/** What not every operation of the document may respond. */
function otherErrors(each: PageOperation): string[] {
  const common = commonCodes(each.document);
  return errorsOf(each)
    .map(([status, codes]) => [status, codes.filter((code) => !common.has(`${status} ${code}`))] as const)
    .filter(([, codes]) => codes.length > 0)
    .map(errorWords);
}

type Errors = readonly [status: string, codes: readonly string[]];

function errorWords([status, codes]: Errors): string {
  return `${status} ${codes.map((code) => `\`${code}\``).join(', ')}`;
}

function codesWithStatus([status, codes]: Errors): string[] {
  return codes.map((code) => `${status} ${code}`);
}

function errorsOf({ operation, document }: PageOperation): Errors[] {
  return Object.entries(operation['responses'] as Record<string, Json>)
    .filter(([status]) => status >= '400')
    .map(([status, response]) => {
      const { content } = resolved(document, response) as {
        readonly content: Record<string, { readonly examples: Json }>;
      };
      return [status, Object.keys(content['application/problem+json']?.examples ?? {})] as const;
    });
}

/** What a reference leads to. */
export function resolved(document: Json, value: Json): Json {
  const ref = value['$ref'];
  if (typeof ref !== 'string') return value;
  const [, , kind = '', name = ''] = ref.split('/');
  return (document['components'] as Record<string, Record<string, Json>>)[kind]?.[name] ?? {};
}
