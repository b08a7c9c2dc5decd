import { Ajv2020 } from 'ajv/dist/2020.js';
import { explainSchemaErrors, type Wording } from '../domain/schema-errors.ts';
import { formats } from './formats.ts';
import { formatPath, parsePointer, type Path } from './pointer.ts';
import { allKeys, keysOf, nodeAt, schema } from './schema.ts';
import { suggest } from '../domain/suggest.ts';

/** A fault in the document, found by the schema or a later check. */
export interface SchemaFault {
  /** Path of the faulty value, or of an unknown setting. */
  readonly path: Path;
  readonly detail: string;
  /** `true` if the value itself is valid but is missing a setting. */
  readonly incomplete?: true;
}

const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  // Needed because `workers` may be a number or the word `auto`.
  allowUnionTypes: true,
  // A test validates the schema itself. Doing that here would take up a tenth of the start-up time.
  meta: false,
  validateSchema: false,
  formats: Object.fromEntries(Object.entries(formats).map(([name, { accepts }]) => [name, accepts])),
  keywords: ['env'],
});
const validator = ajv.compile(schema);

/** Returns all schema violations, worded for operators. */
export function validate(document: unknown): SchemaFault[] {
  if (validator(document)) return [];
  const words: Wording = {
    ...wording,
    additionalProperties: ({ pointer, member = '' }) => unknownKey(member, parsePointer(pointer, document)),
  };
  return explainSchemaErrors(validator.errors ?? [], words).map(({ keyword, pointer, member, detail }) => {
    const path = parsePointer(pointer, document);
    if (keyword === 'required') return { path, detail, incomplete: true };
    return { path: member === undefined ? path : [...path, member], detail };
  });
}

const wording: Wording = {
  required: ({ member }) => `${member ?? 'a key'} is missing`,
  type: ({ types: [type = ''] }) => `must be ${typeNames[type] ?? 'something else'}`,
  enum: ({ allowed }) => `must be one of ${allowed.join(', ')}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: () => 'must not be empty',
  maxItems: ({ limit }) => `must hold at most ${limit} entries`,
  format: ({ format = '' }) => `must be ${formats[format]?.expected ?? 'of another form'}`,
  otherwise: () => 'is not valid',
};

const typeNames: Readonly<Record<string, string>> = {
  object: 'a mapping of keys',
  array: 'a list',
  string: 'text; put numbers, true and false in quotes',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false (a variable may also say on or off)',
};

function unknownKey(key: string, parent: Path): string {
  const node = nodeAt(parent);
  const near = node && suggest(key, keysOf(node).keys());
  if (near !== undefined) return `unknown key; did you mean ${near}?`;
  const elsewhere = [...allKeys()]
    .filter(({ path }) => path.at(-1) === key)
    .map(({ path }) => formatPath(path));
  return elsewhere.length === 0
    ? 'unknown key'
    : `unknown key here; did you mean ${elsewhere.slice(0, 3).join(' or ')}?`;
}
