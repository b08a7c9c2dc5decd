import { Ajv, type ErrorObject } from 'ajv';
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import { ProblemError, type FieldFault, type Problem } from '../domain/problem.ts';
import { parseInstant } from '../domain/rfc3339.ts';
import { escapePointer } from './json-pointer.ts';

/** Most faults one answer names, and the longest pointer: both are otherwise as long as the client likes. */
const maxFaults = 20;
const maxPointer = 256;

/**
 * Validates requests of `app` by the schemas of its routes. A body is taken as it is or refused: nothing is coerced,
 * filled in or dropped. Query parameters, which are all text, may become numbers.
 */
export function installValidation(app: FastifyInstance): void {
  const shared = {
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    formats: { 'date-time': isInstant },
  };
  const strict = new Ajv(shared);
  const fromText = new Ajv({ ...shared, coerceTypes: true });
  const compile: FastifySchemaCompiler<object> = ({ schema, httpPart }) =>
    (httpPart === 'querystring' ? fromText : strict).compile(schema);
  app.setValidatorCompiler(compile);
}

function isInstant(text: string): boolean {
  return parseInstant(text) !== undefined;
}

/** A refusal of what a request holds. */
export function invalidRequest(faults: readonly FieldFault[]): Problem {
  const first = faults[0];
  const errors = faults
    .slice(0, maxFaults)
    .map(({ pointer, detail }) => ({ pointer: shorten(pointer), detail }));
  return {
    code: 'invalid_request',
    detail:
      first === undefined
        ? 'The request is not acceptable.'
        : `${describe(errors[0]?.pointer ?? '')} ${first.detail}` +
          (faults.length > 1 ? ` There are ${faults.length} faults in all.` : ''),
    errors,
  };
}

/** The same, to be thrown. @param pointer a JSON pointer into the body, or `?name` of a query parameter */
export function invalidField(pointer: string, detail: string): ProblemError {
  return new ProblemError(invalidRequest([{ pointer, detail }]));
}

/** What a validator found, in terms of the request. The values that were sent are never repeated. */
export function fieldFaults(errors: readonly object[], part: string | undefined): FieldFault[] {
  const query = part === 'querystring';
  return (errors as readonly ErrorObject[])
    .filter(({ keyword }) => keyword !== 'propertyNames')
    .map((error) => {
      const pointer = pathTo(error);
      return { pointer: query ? `?${pointer.slice(1)}` : pointer, detail: detailOf(error, query) };
    });
}

function pathTo({ instancePath, params, propertyName }: ErrorObject): string {
  const { missingProperty, additionalProperty } = params as Partial<Record<string, string>>;
  const member = missingProperty ?? additionalProperty ?? propertyName;
  return member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`;
}

function detailOf(
  { keyword, params, parentSchema, message, propertyName }: ErrorObject,
  query: boolean,
): string {
  const { description } = (parentSchema ?? {}) as { description?: string };
  const { type, allowedValues } = params as { type?: string | string[]; allowedValues?: unknown[] };
  switch (keyword) {
    case 'required':
      return 'is required.';
    case 'additionalProperties':
      return query ? 'is not a parameter of this operation.' : 'is not a field of this request.';
    case 'type':
      return `must be ${[type].flat().join(' or ')}.`;
    case 'enum':
      return `must be one of ${(allowedValues ?? []).join(', ')}.`;
    case 'pattern':
    case 'format':
      return `must be ${description ?? 'of another form'}.`;
    case 'not':
      return description ?? 'is not accepted.';
    default:
      return `${propertyName === undefined ? '' : 'has a name that '}${message ?? 'is not acceptable'}.`;
  }
}

function describe(pointer: string): string {
  if (pointer === '') return 'The body';
  return pointer.startsWith('?') ? `The query parameter \`${pointer.slice(1)}\`` : `\`${pointer}\``;
}

function shorten(pointer: string): string {
  return pointer.length <= maxPointer ? pointer : `${pointer.slice(0, maxPointer)}…`;
}
