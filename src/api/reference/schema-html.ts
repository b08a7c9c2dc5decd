import { escaped, inline } from './html.ts';
import type { Member } from './operation-index.ts';

/** Renders a schema with its members. */
export function schemaHtml(name: string, schema: Member): string {
  return (
    `<article id="schema-${name}" data-text="${escaped(name.toLowerCase())}"><h3>${name}</h3>` +
    `<p>${inline(textOf(schema))}</p>${membersHtml(schema)}</article>`
  );
}

function membersHtml(schema: Member): string {
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, Member>);
  const required = (schema['required'] ?? []) as readonly string[];
  if (members.length === 0) return '';
  const rows = members.map(([name, member]) => memberHtml(name, member, required.includes(name)));
  return `<dl>${rows.join('')}</dl>`;
}

/** Renders a member or parameter: name, type and description. */
export function memberHtml(name: string, schema: Member, required: boolean, text = textOf(schema)): string {
  const mark = required ? ' <span class="required">required</span>' : '';
  return (
    `<dt><code>${escaped(name)}</code> <span class="type">${typeHtml(schema)}</span>${mark}</dt>` +
    `<dd>${inline(text)}${membersHtml(itemsOf(schema) ?? schema)}</dd>`
  );
}

/** Renders a value's type in words, with a link if it is a named type. */
export function typeHtml(schema: Member): string {
  const { $ref: ref, type, enum: values } = schema;
  const format = schema['format'] as string | undefined;
  if (typeof ref === 'string') {
    const name = ref.split('/').at(-1) ?? '';
    return `<a href="#schema-${name}">${name}</a>`;
  }
  const items = itemsOf(schema);
  if (items !== undefined) return `array of ${typeHtml(items)}`;
  if (Array.isArray(schema['anyOf'])) return (schema['anyOf'] as Member[]).map(typeHtml).join(' or ');
  if (Array.isArray(values)) return values.map((value) => `<code>${escaped(String(value))}</code>`).join(' ');
  const kind = [type].flat().join(' or ');
  return escaped([kind, format === undefined ? '' : `(${format})`, bounds(schema)].join(' ').trim());
}

function itemsOf(schema: Member): Member | undefined {
  return schema['items'] as Member | undefined;
}

function textOf(schema: Member): string {
  const { description } = schema;
  return typeof description === 'string' ? description : '';
}

function bounds(schema: Member): string {
  const words = [
    ['minimum', 'from'],
    ['maximum', 'to'],
    ['maxLength', 'up to', 'characters'],
    ['maxItems', 'up to', 'elements'],
    ['maxProperties', 'up to', 'members'],
  ] as const;
  return words
    .filter(([name]) => schema[name] !== undefined)
    .map(([name, word, what = '']) => `${word} ${Number(schema[name])} ${what}`.trim())
    .join(' ');
}
