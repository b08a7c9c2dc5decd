import type { Json } from './openapi/types.ts';

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly pattern?: string;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

interface Parameter {
  readonly $ref?: string;
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { operationId?: string; parameters?: Parameter[] }>>>
  >;
}

/** The types of the client: a type for each schema of the document, and one for the query of each operation that has one. */
export function clientTypes(document: Json): string {
  const { components, paths } = document as unknown as Document;
  const types = Object.entries(components.schemas).map(([name, schema]) => interfaceOf(name, schema));
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    const query = (operation.parameters ?? [])
      .map((parameter) => (parameter.$ref ? components.parameters[nameOf(parameter.$ref)] : parameter))
      .filter((parameter) => parameter?.in === 'query') as Parameter[];
    if (operation.operationId === undefined || query.length === 0) continue;
    const name = `${operation.operationId.replace(/^./, (letter) => letter.toUpperCase())}Query`;
    types.push(
      interfaceOf(name, {
        description: `Query of \`${operation.operationId}\`.`,
        required: query.filter(({ required }) => required).map((parameter) => parameter.name),
        properties: Object.fromEntries(
          query.map(({ name, description, schema }) => [
            name,
            { ...schema, ...(description && { description }) },
          ]),
        ),
      }),
    );
  }
  return types.join('\n\n');
}

/** Responses of the operator API that the command line and the console read, without what they refer to. */
const read = [
  ...[
    'Account',
    'ApiKey',
    'Erasure',
    'EventList',
    'Explanation',
    'HeldApiKey',
    'LimitsInForce',
    'MintedApiKey',
  ],
  ...['Operator', 'OperatorSession', 'Plan', 'ReplicaList', 'RotatedApiKey', 'SubAccount', 'UsageReport'],
];

/** The types of responses of the operator API. */
export function operatorTypes(document: Json): string {
  const { schemas } = (document as unknown as Document).components;
  const names = new Set(read);
  // A set also gives what is added while it is read.
  for (const name of names) for (const other of referredTo(schemas[name])) names.add(other);
  return [...names]
    .sort()
    .map((name) => interfaceOf(name, schemas[name] ?? {}))
    .join('\n\n');
}

/** Names of the schemas that a schema refers to. */
function referredTo(schema: Schema | undefined): string[] {
  return [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) =>
    String(name),
  );
}

function interfaceOf(name: string, schema: Schema): string {
  return `${comment(schema)}export interface ${name} ${membersOf(schema)}`;
}

function membersOf({ properties = {}, required = [] }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema)}readonly ${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`,
  );
  return `{\n${members.join('\n')}\n}`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ');
  const types = [schema.type ?? []].flat();
  if (types.length === 0) throw new Error(`The clients have no type for ${JSON.stringify(schema)}.`);
  return types.map((type) => typeNamed(type, schema)).join(' | ');
}

function typeNamed(type: string, schema: Schema): string {
  switch (type) {
    case 'array':
      return `readonly (${typeOf(schema.items ?? {})})[]`;
    case 'object': {
      if (schema.properties !== undefined) return membersOf(schema);
      const { additionalProperties: values } = schema;
      return `Readonly<Record<string, ${typeof values === 'object' ? typeOf(values) : 'unknown'}>>`;
    }
    case 'integer':
      return 'number';
    case 'string': {
      const [, only] = /^\^(\w+)\$$/.exec(schema.pattern ?? '') ?? [];
      return only === undefined ? type : `'${only}'`;
    }
    case 'number':
    case 'boolean':
    case 'null':
      return type;
    default:
      throw new Error(`The client has no type for a schema of type ${type}.`);
  }
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function comment({ description }: Schema): string {
  return description === undefined
    ? ''
    : `/** ${description.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n`;
}
