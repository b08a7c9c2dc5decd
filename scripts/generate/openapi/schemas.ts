import { problem } from './problem-schema.ts';
import type { Texts } from './texts.ts';
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
  readonly #texts: Texts;
  readonly #faults: string[];

  /** @param faults what does not fit together is added to them */
  constructor(texts: Texts, faults: string[]) {
    this.#texts = texts;
    this.#faults = faults;
  }

  /**
   * Gives a schema of a route its name, and those inside it theirs.
   *
   * @param open whether other members may come with a later version: in responses
   */
  add(name: string, schema: Json, open: boolean): void {
    const known = this.#named.get(name);
    if (known !== undefined && !same(known, schema))
      this.#faults.push(`${name} is the name of two schemas that differ: give one of them another name.`);
    this.#named.set(name, schema);
    if (open) this.#open.add(name);
    for (const [pointer, inner] of this.#texts.innerOf(name)) this.#addInner(name, pointer, inner);
  }

  /** Gives the schema at a JSON pointer into another one a name. */
  #addInner(outer: string, pointer: string, name: string): void {
    let schema: unknown = this.#named.get(outer);
    for (const part of pointer.split('/').slice(1)) schema = (schema as Json | undefined)?.[part];
    if (schema === undefined) this.#faults.push(`${outer}${pointer}, which is to be ${name}, is not there.`);
    else this.add(name, schema as Json, this.#open.has(outer));
  }

  /** All of them, by name, with `Problem`. */
  components(): Record<string, Json> {
    const names = [...this.#named.keys()].sort();
    const all = names.map((name) => {
      const text = this.#texts.ofSchema(name);
      const { description: _own, ...schema } = this.#written(this.#named.get(name) ?? {}, name, true);
      return [name, { description: text, ...schema }] as const;
    });
    return Object.fromEntries([...all, ['Problem', problem]]);
  }

  /** The schema of a parameter in the query of an operation, and what the parameter is. @param file the operation's */
  parameter(
    name: string,
    schema: Json,
    operation: string,
    file: string,
  ): { readonly description: string; readonly schema: Json } {
    const description = this.#texts.ofParameter(name, operation, file);
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
          const description = this.#texts.ofMember(at, name);
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
}

function same(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
