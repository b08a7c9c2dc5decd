/** `surface.txt`: what users rely on, a fact a line, so that a review and the next release see what changed. */
import { allKeys } from '../../src/config/schema.ts';
import type { Json } from './openapi/types.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: boolean | Schema;
}

interface Field {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, Field>>;
  readonly content?: Content;
}

interface Operation {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Field[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Field>>;
    readonly headers: Readonly<Record<string, Field>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

/**
 * Returns the sorted lines: operations, parameters, bodies, headers and problem codes of the documents, members of their
 * schemas, and settings of the configuration. What all operations of a document have stands once, at `any call`.
 */
export function surface(documents: readonly Json[]): string {
  const lines = [
    ...documents.flatMap((document) => apiLines(document as unknown as Document)),
    ...settingLines(),
  ];
  return `${[...new Set(lines)].sort().join('\n')}\n`;
}

interface Compared {
  /** Lines of {@link surface}, of a release and now. */
  readonly released: string;
  readonly present: string;
  readonly changelog: string;
}

/** Returns the lines that are gone and that the changelog does not quote between backticks. */
export function goneUnannounced({ released, present, changelog }: Compared): readonly string[] {
  const kept = new Set(linesOf(present));
  return linesOf(released).filter((line) => !kept.has(line) && !changelog.includes(`\`${line}\``));
}

function linesOf(text: string): string[] {
  return text.split('\n').filter(Boolean);
}

function apiLines({ paths, components }: Document): string[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, factsOf(operation, components)] as const,
    ),
  );
  const [[, first = []] = []] = operations;
  const shared = new Set(first.filter((fact) => operations.every(([, facts]) => facts.includes(fact))));
  const [prefix = ''] = Object.keys(paths).map((path) => path.split('/').slice(0, 3).join('/'));
  return [
    ...[...shared].map((fact) => `any call ${prefix} ${fact}`),
    ...operations.flatMap(([name, facts]) =>
      facts.filter((fact) => !shared.has(fact)).map((fact) => `call ${name} ${fact}`),
    ),
    ...Object.entries(components.schemas).flatMap(([name, schema]) => memberLines(`body ${name}`, schema)),
  ];
}

function factsOf(operation: Operation, components: Document['components']): string[] {
  const { parameters = [], requestBody, responses, security } = operation;
  return [
    ...security.flatMap((way) => Object.values(way).map((scopes) => `needs ${scopes.join(' ')}`)),
    ...parameters.flatMap((parameter) => {
      const { name, in: place, required, schema } = resolved(parameter, components.parameters);
      // An id in the path goes with the path.
      if (place === 'path' && schema.format === 'uuid') return [];
      return typed(`${place} ${name}${required ? '' : '?'}`, schema);
    }),
    ...bodies(requestBody?.content).map((body) => `takes ${body}`),
    ...Object.entries(responses).flatMap(([status, response]) =>
      responseFacts(status, resolved(response, components.responses), components),
    ),
  ];
}

function responseFacts(
  status: string,
  { headers = {}, content }: Response,
  components: Document['components'],
): string[] {
  const codes = content?.['application/problem+json']?.schema.properties?.['code']?.enum;
  if (codes !== undefined) return codes.map((code) => `${status} ${String(code)}`);
  const found = bodies(content);
  return [
    ...(found.length > 0 ? found : ['no body']).map((body) => `${status} ${body}`),
    ...Object.entries(headers).map(([name, header]) => {
      const { required, schema } = resolved(header, components.headers);
      return `sends ${name}${required ? '' : '?'}: ${typeOf(schema)}`;
    }),
  ];
}

function bodies(content: Content = {}): string[] {
  return Object.entries(content).map(([type, { schema }]) =>
    type === 'application/json' ? typeOf(schema) : `${type} ${typeOf(schema)}`,
  );
}

/** A line for each member at any depth, without those of other named schemas; `?` marks those that may be absent. */
function memberLines(at: string, schema: Schema): string[] {
  const within = [schema, ...(schema.anyOf ?? [])].flatMap((one) => [one, one.items ?? {}]);
  return within.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, member]) => {
      const path = `${at}.${name}`;
      const mark = required.includes(name) ? '' : '?';
      return [...typed(path + mark, member), ...memberLines(path, member)];
    }),
  );
}

function settingLines(): string[] {
  return [...allKeys()].map(({ path, node }) => {
    const { default: usual, env } = node;
    const isMapping = node.properties !== undefined;
    return [
      `setting ${path.join('.')}: ${typeOf(node as Schema)}`,
      ...(usual === undefined || isMapping ? [] : [`= ${JSON.stringify(usual)}`]),
      ...(env === undefined ? [] : [`[${env}]`]),
    ].join(' ');
  });
}

/** A line for the type of a value, or for each value that it may have, so that one more of them changes no line. */
function typed(name: string, schema: Schema): string[] {
  const { enum: values, ...rest } = schema;
  if (values === undefined) return [`${name}: ${typeOf(rest)}`];
  return values.map((value) => `${name}: ${JSON.stringify(value)}`);
}

/** The type of a value with all that bounds it, in one line. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return lastOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  const { items, additionalProperties: values, propertyNames: names } = schema;
  return [
    [schema.type ?? 'any'].flat().join(' or '),
    schema.format,
    schema.pattern && `/${schema.pattern}/`,
    range(schema.minimum, schema.maximum),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    range(schema.minProperties, schema.maxProperties, ' members'),
    items && `of ${typeOf(items)}`,
    names && `by ${typeOf(names)}`,
    typeof values === 'object' && `of ${typeOf(values)}`,
  ]
    .filter(Boolean)
    .join(' ');
}

function range(from: number | undefined, to: number | undefined, unit = ''): string | undefined {
  return from === undefined && to === undefined ? undefined : `${from ?? ''}..${to ?? ''}${unit}`;
}

function resolved<T extends { readonly $ref?: string }>(
  value: T,
  components: Readonly<Record<string, T>>,
): T {
  return value.$ref === undefined ? value : (components[lastOf(value.$ref)] ?? value);
}

function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
