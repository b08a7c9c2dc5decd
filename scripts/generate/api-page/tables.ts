/** Tables of members and parameters in docs/api.md. */
import type { Json } from '../openapi/types.ts';
import { typeWords } from './words.ts';

/** How schemas that have names are shown. */
export interface SchemaViews {
  /** The schema of this name where its members are to be shown in its place; otherwise it is a link. */
  readonly inPlace: (name: string) => Json | undefined;
  readonly linkTo: (name: string) => string;
}

/** A row of a table for each member of a schema and of what is in it. @param at the place of the schema, such as `limits.` */
export function memberRows(
  schema: Json,
  views: SchemaViews,
  cells: readonly string[] = [],
  at = '',
): string[] {
  const required = (schema['required'] ?? []) as readonly string[];
  return Object.entries((schema['properties'] ?? {}) as Record<string, Json>).flatMap(([name, member]) => [
    row([
      ...cells,
      `\`${at}${name}\`${required.includes(name) ? '' : ' ?'}`,
      typeWords(member, views.linkTo),
      textOf(member),
    ]),
    ...innerRows(member, views, cells, `${at}${name}`),
  ]);
}

function innerRows(member: Json, views: SchemaViews, cells: readonly string[], at: string): string[] {
  const items = member['items'] as Json | undefined;
  if (items !== undefined) return innerRows(items, views, cells, `${at}[]`);
  const ref = member['$ref'];
  const schema = typeof ref === 'string' ? views.inPlace(ref.split('/').at(-1) ?? '') : member;
  return schema === undefined ? [] : memberRows(schema, views, cells, `${at}.`);
}

/** The description of a member. */
function textOf({ description }: Json): string {
  return typeof description === 'string' ? description : '';
}

/** A row of a table. */
export function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

/** A table, where there are rows. */
export function table(head: readonly string[], rows: readonly string[]): string {
  return rows.length === 0 ? '' : [row(head), row(head.map(() => '---')), ...rows].join('\n');
}
