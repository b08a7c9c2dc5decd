import { problem } from './problem-schema.ts';
import { memberTexts } from './text/members.ts';
import { schemaTexts } from './text/schemas.ts';
import type { Json } from './types.ts';

/** Members that hold UUIDs wherever they are. */
const uuids = new Set([
  ...[
    'id',
    'account_id',
    'sub_account_id',
    'api_key_id',
    'key_id',
    'parent_id',
    'acts_as',
    'resolved_tenant',
    'rotated_from',
  ],
  ...['owner_id', 'sub_id', 'event_id', 'replica_id'],
]);

/** An RFC 3339 date or date-time, in a query or a body that is read as either. */
const instant = '^\\d{4}-\\d{2}-\\d{2}([Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2}))?$';

/**
 * What a name must be, for readers whose regular expressions know no classes of Unicode: it holds nothing that breaks lines or
 * changes the direction of writing, and something else than blanks. The gateway itself also rejects names of invisible characters alone.
 */
const forging = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069';
const blanks =
  '\\u0020\\u00a0\\u00ad\\u115f\\u1160\\u1680\\u2000-\\u200f\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufeff\\uffa0';
const portableName = `^[^${forging}]*[^${forging}${blanks}][^${forging}]*$`;

/** The schemas of a document: those of routes get names and descriptions, and one inside another becomes a reference. */
export class Schemas {
  readonly #named = new Map<string, Json>();
  /** Those of responses. */
  readonly #open = new Set<string>();
  readonly #faults: string[];
  readonly #used: Set<string>;

  /**
   * @param faults what lacks a text is added to them
   * @param used the texts that are used are added to them
   */
  constructor(faults: string[], used: Set<string>) {
    this.#faults = faults;
    this.#used = used;
  }

  /** Gives a schema of a route its name. @param open whether other members may come with a later version: in responses */
  add(name: string, schema: Json, open: boolean): void {
    const known = this.#named.get(name);
    if (known !== undefined && !same(known, schema))
      this.#faults.push(`${name} is the name of two schemas that differ: give one of them another name.`);
    this.#named.set(name, schema);
    if (open) this.#open.add(name);
  }

  /** Gives the schema at a JSON pointer into another one a name. */
  addInner(outer: string, pointer: string, name: string): void {
    let schema: unknown = this.#named.get(outer);
    for (const part of pointer.split('/').slice(1)) schema = (schema as Json | undefined)?.[part];
    if (schema === undefined) this.#faults.push(`${outer}${pointer}, which is to be ${name}, is not there.`);
    else this.add(name, schema as Json, this.#open.has(outer));
  }

  /** All of them, by name, with `Problem`. */
  components(): Record<string, Json> {
    const names = [...this.#named.keys()].sort();
    const all = names.map((name) => {
      const text = this.#textOf(schemaTexts, [name], `schema ${name}`, 'schemaTexts');
      const { description: _own, ...schema } = this.#written(this.#named.get(name) ?? {}, name, true);
      return [name, { description: text, ...schema }] as const;
    });
    return Object.fromEntries([...all, ['Problem', problem]]);
  }

  /** A parameter's schema, and what the parameter is. */
  parameter(name: string, schema: Json): { readonly description: string; readonly schema: Json } {
    const description = this.#textOf(
      memberTexts,
      [`query.${name}`, name],
      `parameter ${name}`,
      'memberTexts',
    );
    const { description: _own, ...written } = this.#member(name, schema, 'query');
    return { description, schema: written };
  }

  #written(schema: Json, at: string, isTop = false): Json {
    if (!isTop) {
      const name = [...this.#named].find(([, other]) => same(other, schema))?.[0];
      if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
    }
    const { properties, items, anyOf, additionalProperties, ...rest } = schema;
    const mayHaveMore = additionalProperties === false && this.#open.has(at);
    return {
      ...('enum' in rest && { type: 'string' }),
      ...rest,
      ...(additionalProperties !== undefined && !mayHaveMore && { additionalProperties }),
      ...(anyOf !== undefined && { anyOf: (anyOf as Json[]).map((each) => this.#written(each, at)) }),
      ...(items !== undefined && { items: this.#written(items as Json, at) }),
      ...(properties !== undefined && { properties: this.#properties(properties as Json, at) }),
    };
  }

  #properties(properties: Json, at: string): Json {
    return Object.fromEntries(
      Object.entries(properties)
        // What may not be sent is said by `additionalProperties: false`.
        .filter(([, schema]) => !('not' in (schema as Json)))
        .map(([name, schema]) => {
          const keys = [`${at}.${name}`, name];
          const description = this.#textOf(memberTexts, keys, `${at}.${name}`, 'memberTexts');
          const { description: _own, ...written } = this.#member(name, schema as Json, at);
          return [name, { description, ...written }];
        }),
    );
  }

  #member(name: string, schema: Json, at: string): Json {
    const written = this.#written(schema, at);
    const isText = [written['type']].flat().includes('string');
    if (uuids.has(name) && isText) return { ...written, format: 'uuid' };
    if (String(written['pattern']).includes('\\p{'))
      return { ...written, minLength: 1, pattern: portableName };
    // A report's own `from` and `to` have a format.
    if ((name === 'from' || name === 'to') && isText && written['format'] === undefined)
      return { ...written, pattern: instant, examples: ['2026-03-01', '2026-03-01T09:00:00Z'] };
    if (name === 'day') return { ...written, format: 'date' };
    return written;
  }

  #textOf(
    texts: Readonly<Record<string, string>>,
    keys: readonly string[],
    what: string,
    table: string,
  ): string {
    const key = keys.find((key) => texts[key] !== undefined);
    if (key === undefined)
      this.#faults.push(`${what} has no text: add it to ${table} in scripts/generate/openapi/text/.`);
    else this.#used.add(key);
    return key === undefined ? '' : (texts[key] ?? '');
  }
}

function same(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
