import { Ajv, type ValidateFunction } from 'ajv';
import fastJson from 'fast-json-stringify';
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from 'fastify';
import { parseInstant } from '../domain/rfc3339.ts';

const options = {
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  // TypeBox makes valid schemas, and validating them would take time.
  meta: false,
  validateSchema: false,
  formats: { 'date-time': isInstant },
};

const strict = compiledOnce<ValidateFunction>(new Ajv(options));
const fromText = compiledOnce<ValidateFunction>(new Ajv({ ...options, coerceTypes: true }));
const serializer = compiledOnce({ compile: fastJson as (schema: object) => (data: unknown) => string });

/** Compiles a schema to a validator, with the same options as {@link schemaController}. */
export function bodyValidator(schema: object): ValidateFunction {
  return strict(schema)();
}

const validatorOf: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const compiled = (httpPart === 'querystring' ? fromText : strict)(schema);
  const validate: ReturnType<typeof validatorOf> = (data) => {
    const isValid = compiled()(data);
    validate.errors = compiled().errors ?? null;
    return isValid;
  };
  return validate;
};

const serializerOf: FastifySerializerCompiler<object> = ({ schema }) => {
  const compiled = serializer(schema);
  return (data) => compiled()(data);
};

/**
 * Option of `Fastify()`, which validates requests and writes responses by its routes' schemas. A body is accepted
 * unchanged or rejected: no member is coerced, filled in or dropped. Query parameters arrive as text, so they are converted
 * to the types in the schema.
 */
export const schemaController = {
  compilersFactory: { buildValidator: () => validatorOf, buildSerializer: () => serializerOf },
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;

/**
 * Has each schema compiled when it is first used, and schemas that read alike once, however often the applications are
 * made. All of them at once would stall a start or a reload.
 */
function compiledOnce<F>(compiler: { compile(schema: object): F }): (schema: object) => () => F {
  const all = new Map<string, F>();
  const compiled = (text: string, schema: object): F => {
    const known = all.get(text) ?? compiler.compile(schema);
    all.set(text, known);
    return known;
  };
  return (schema) => {
    let own: F | undefined;
    return () => (own ??= compiled(JSON.stringify(schema), schema));
  };
}

function isInstant(text: string): boolean {
  return parseInstant(text) !== undefined;
}
