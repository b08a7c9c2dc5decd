import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import { parseInstant } from '../../domain/rfc3339.ts';

const options = {
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  // TypeBox makes valid schemas, and validating them would take time at every start.
  meta: false,
  validateSchema: false,
  formats: { 'date-time': isInstant },
};

/** Compiles a schema to a validator, with the same options as {@link installValidation}. */
export function bodyValidator(schema: object): ValidateFunction {
  return new Ajv(options).compile(schema);
}

/**
 * Validates requests to `app` against its routes' schemas. A body is accepted unchanged or rejected: no member is
 * coerced, filled in or dropped. Query parameters arrive as text, so they are converted to the types in the schema.
 */
export function installValidation(app: FastifyInstance): void {
  const strict = new Ajv(options);
  const fromText = new Ajv({ ...options, coerceTypes: true });
  const compile: FastifySchemaCompiler<object> = ({ schema, httpPart }) =>
    compiledLater(() => (httpPart === 'querystring' ? fromText : strict).compile(schema));
  app.setValidatorCompiler(compile);
}

/** Returns a validator that is compiled when it is first used. All of them at once would stall a start or a reload. */
function compiledLater(compile: () => ValidateFunction): ReturnType<FastifySchemaCompiler<object>> {
  let compiled: ValidateFunction | undefined;
  const validate: ReturnType<FastifySchemaCompiler<object>> = (data) => {
    compiled ??= compile();
    const isValid = compiled(data);
    validate.errors = compiled.errors ?? null;
    return isValid;
  };
  return validate;
}

function isInstant(text: string): boolean {
  return parseInstant(text) !== undefined;
}
