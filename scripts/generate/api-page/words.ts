/** Types of the OpenAPI documents in the words of docs/api.md. */
import type { Json } from '../openapi/types.ts';

/** What the patterns of the documents say. One that is not here has no words, and the page cannot be written. */
const patterns: Readonly<Record<string, string>> = {
  '^/': 'beginning with `/`',
  '^[0-9a-f]{64}$': '64 hexadecimal digits in lower case',
  '^[!-+\\--~]+$': 'visible ASCII without comma',
  '^[!-+\\--~]{16,512}$': '16 to 512 visible ASCII characters without comma',
  '^[!-~]{1,16}$': '1 to 16 visible ASCII characters',
  '^[!-~]{4}$': '4 visible ASCII characters',
  '^[a-z0-9][a-z0-9-]{0,62}$': '1 to 63 lower-case letters, digits and hyphens, no hyphen first',
  '^unlimited$': '`"unlimited"`',
  '^[A-Za-z0-9_.*-]+(:[A-Za-z0-9_.*-]+)*$':
    'letters, digits and `_ . * -`, in parts joined by `:`, such as `tracking:read`',
};

const formats: Readonly<Record<string, string>> = {
  uuid: 'UUID',
  'date-time': 'time',
  date: 'date',
  uri: 'URI',
};

/** The words of a pattern. Those of instants and of names say in their descriptions what they are. */
function patternWords(pattern: unknown): string {
  if (typeof pattern !== 'string') return '';
  if (pattern.startsWith('^\\d{4}-')) return 'date or time';
  if (pattern.startsWith('^[^\\u0000')) return '';
  const words = patterns[pattern];
  if (words === undefined) throw new Error(`docs/api.md has no words for the pattern ${pattern}.`);
  return words;
}

/** What a value may be, such as `integer, 1 to 100, or null`. @param linkTo makes a link to a schema that has a name */
export function typeWords(schema: Json, linkTo: (name: string) => string): string {
  const { $ref: ref, anyOf, enum: values, items } = schema;
  if (typeof ref === 'string') return linkTo(ref.split('/').at(-1) ?? '');
  if (Array.isArray(anyOf)) return (anyOf as Json[]).map((each) => typeWords(each, linkTo)).join(' or ');
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ');
  const types = [schema['type']].flat().map(String);
  const orNull = types.length > 1 && types.includes('null') ? ', or `null`' : '';
  const kind = types.find((type) => type !== 'null') ?? '`null`';
  if (items !== undefined) return `${arrayWords(schema, items as Json, linkTo)}${orNull}`;
  if (kind === 'object') return `object${pairWords(schema)}${orNull}`;
  const pattern = patternWords(schema['pattern']);
  const isNumber = kind === 'integer';
  const words = [
    formats[String(schema['format'])] ?? kind,
    isNumber ? '' : pattern,
    'format' in schema ? '' : range(schema, 'Length', ' characters'),
    range(schema, 'imum', ''),
    isNumber ? pattern : '',
  ];
  return words.filter((word) => word !== '').join(', ') + orNull;
}

function arrayWords(schema: Json, items: Json, linkTo: (name: string) => string): string {
  const count = range(schema, 'Items', '');
  const distinct = schema['uniqueItems'] === true ? ' different' : '';
  return `array of ${count === '' ? '' : `${count}${distinct} × `}${typeWords(items, linkTo)}`;
}

/** Of an object whose members have any names. */
function pairWords({ maxProperties, propertyNames, additionalProperties }: Json): string {
  if (typeof additionalProperties !== 'object' || additionalProperties === null) return '';
  const value = typeWords(additionalProperties as Json, String);
  const names =
    propertyNames === undefined ? '' : `, names of ${range(propertyNames as Json, 'Length', ' characters')}`;
  return ` of ${maxProperties === undefined ? '' : `up to ${figure(maxProperties)} pairs: values `}${value}${names}`;
}

/** Such as `1 to 100`. @param kind the end of the names of both bounds, such as `Length` */
function range(schema: Json, kind: string, unit: string): string {
  const [min, max] = [schema[`min${kind}`], schema[`max${kind}`]];
  if (min === undefined && max === undefined) return '';
  if (max === undefined) return `at least ${figure(min)}${unit}`;
  return `${min === undefined ? 'up to' : `${figure(min)} to`} ${figure(max)}${unit}`;
}

function figure(value: unknown): string {
  return Number(value).toLocaleString('en');
}
