import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { formats } from './formats.ts';
import { formatPath, parsePointer, type Path } from './pointer.ts';
import { allKeys, keysOf, nodeAt, schema } from './schema.ts';
import { suggest } from './suggest.ts';

/** A value that the schema refuses. */
export interface SchemaFault {
  /** The value, or the unknown key. */
  readonly path: Path;
  readonly detail: string;
  /** Nothing wrong stands there: something is missing in it. */
  readonly incomplete?: true;
}

const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  // That the schema itself is one is for a test to say: to say it here costs a tenth of the start.
  meta: false,
  validateSchema: false,
  formats: Object.fromEntries(Object.entries(formats).map(([name, { accepts }]) => [name, accepts])),
  keywords: ['env'],
});
const validator = ajv.compile(schema);

/** Everything the schema has against `document`. */
export function validate(document: unknown): SchemaFault[] {
  if (validator(document)) return [];
  return (validator.errors ?? []).map((error) => explain(error, document));
}

function explain(error: ErrorObject, document: unknown): SchemaFault {
  const path = parsePointer(error.instancePath, document);
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      return { path: [...path, key], detail: unknownKey(key, path) };
    }
    case 'required':
      return {
        path,
        detail: `${String(params['missingProperty'])} is missing`,
        incomplete: true,
      };
    case 'type':
      return {
        path,
        detail: `must be ${typeNames[String(params['type'])] ?? 'something else'}`,
      };
    case 'enum':
      return {
        path,
        detail: `must be one of ${(params['allowedValues'] as string[]).join(', ')}`,
      };
    case 'minimum':
      return { path, detail: `must be at least ${String(params['limit'])}` };
    case 'maximum':
      return { path, detail: `must be at most ${String(params['limit'])}` };
    case 'minLength':
      return { path, detail: 'must not be empty' };
    case 'maxItems':
      return {
        path,
        detail: `must hold at most ${String(params['limit'])} entries`,
      };
    case 'format':
      return {
        path,
        detail: `must be ${formats[String(params['format'])]?.expected ?? 'of another form'}`,
      };
    default:
      return { path, detail: error.message ?? 'is not valid' };
  }
}

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
