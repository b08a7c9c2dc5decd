/** What docs/api.md has of the OpenAPI documents: a block for each operation, and a table for each body of a response. */
import type { Json } from '../openapi/types.ts';
import { commonWords, isPage, operationBlock, operationsOf, resolved } from './operations.ts';
import { memberRows, table, type SchemaViews } from './tables.ts';

/** The documents of both APIs. */
export interface Documents {
  readonly parents: Json;
  readonly operators: Json;
}

/**
 * The page with what stands between its marks, `<!-- PLACE -->` and `<!-- end -->`, written anew. A place is an operation such as
 * `GET /v1/sub-accounts`, or `errors of parents`, `errors of operators`, `members`. An operation of operators without a place of its
 * own follows the operation before it in the document.
 *
 * @throws Error where any other operation has no place on the page, or a place no operation
 */
export function apiPage(page: string, documents: Documents): string {
  const marks = /(?<=^<!-- (?!end )(.+) -->\n)[^]*?(?=^<!-- end -->$)/gm;
  const parts = partsOf(documents, new Set([...page.matchAll(marks)].map(([, place = '']) => place)));
  const missing = new Set(parts.keys());
  const text = page.replaceAll(marks, (_, place: string) => {
    const part = parts.get(place);
    if (part === undefined || !missing.delete(place))
      throw new Error(`docs/api.md has a place for ${place}, which is unknown or there twice.`);
    return `\n${part}\n\n`;
  });
  if (missing.size > 0)
    throw new Error(`docs/api.md lacks the marks <!-- … --> and <!-- end --> of: ${[...missing].join(', ')}`);
  return text;
}

function partsOf({ parents, operators }: Documents, places: ReadonlySet<string>): Map<string, string> {
  const own = new Set(
    Object.entries(schemasOf(operators)).flatMap(([name, schema]) => differs(parents, name, schema)),
  );
  const parts = new Map<string, string>();
  let last = '';
  for (const each of [parents, operators].flatMap(operationsOf)) {
    const place = `${each.method} ${each.path}`;
    const block = operationBlock(each, requestViews(each.document, own, parents));
    const follows = each.document === operators && !places.has(place);
    if (!follows) last = place;
    parts.set(last, follows ? `${parts.get(last)}\n\n${block}` : block);
  }
  return new Map([
    ...parts,
    ['errors of parents', `Any call of a parent may be ${commonWords(parents)}.`] as const,
    ['errors of operators', `Any call of an operator may be ${commonWords(operators)}.`] as const,
    ['members', memberTables(parents, operators, own)] as const,
  ]);
}

/** The name of a schema that operators have otherwise than parents. */
function differs(parents: Json, name: string, schema: Json): string[] {
  const other = schemasOf(parents)[name];
  return other === undefined || JSON.stringify(other) === JSON.stringify(schema) ? [] : [name];
}

/** Rows that a body of a request holds are shown with it; a response's bodies have tables of their own. */
function requestViews(document: Json, own: ReadonlySet<string>, parents: Json): SchemaViews {
  const responses = responseSchemas(document);
  const linkTo = linkFor(document === parents ? new Set() : own);
  return {
    inPlace: (name) => (responses.has(name) ? undefined : schemasOf(document)[name]),
    linkTo: (name) => (responses.has(name) ? linkTo(name) : 'object'),
  };
}

function linkFor(own: ReadonlySet<string>): (name: string) => string {
  return (name) =>
    own.has(name)
      ? `[${name} of operators](#${name.toLowerCase()}-of-operators)`
      : `[${name}](#${name.toLowerCase()})`;
}

function memberTables(parents: Json, operators: Json, own: ReadonlySet<string>): string {
  const tables = [...responseSchemas(parents)].map((name) =>
    memberTable(parents, name, name, linkFor(new Set())),
  );
  const known = responseSchemas(parents);
  for (const name of responseSchemas(operators))
    if (own.has(name)) tables.push(memberTable(operators, name, `${name} of operators`, linkFor(own)));
    else if (!known.has(name)) tables.push(memberTable(operators, name, name, linkFor(own)));
  return tables.filter((each) => each !== '').join('\n\n');
}

function memberTable(document: Json, name: string, title: string, linkTo: SchemaViews['linkTo']): string {
  const schema = schemasOf(document)[name] ?? {};
  if (isPage((schema['properties'] ?? {}) as Json)) return '';
  const rows = memberRows(schema, { inPlace: () => undefined, linkTo });
  return `#### ${title}\n\n${String(schema['description'])}\n\n${table(['member', 'type', ''], rows)}`;
}

/** The names of all schemas that responses have, also inside others, in the order of the operations. */
function responseSchemas(document: Json): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (names.has(name)) continue;
      names.add(name);
      collect(schemasOf(document)[name]);
    }
  };
  for (const { operation } of operationsOf(document))
    for (const response of Object.values(operation['responses'] as Record<string, Json>))
      collect(resolved(document, response)['content'] ?? {});
  return names;
}

function schemasOf(document: Json): Readonly<Record<string, Json>> {
  return (document['components'] as { readonly schemas: Record<string, Json> }).schemas;
}
