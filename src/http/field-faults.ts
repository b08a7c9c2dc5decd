import type { FieldFault } from '../domain/problem.ts';
import { suggest } from '../domain/suggest.ts';
import {
  explainSchemaErrors,
  type SchemaError,
  type SchemaFinding,
  type Wording,
} from '../domain/schema-errors.ts';
import { escapePointer } from './invalid-request.ts';

/**
 * Turns a validator's errors into messages for the developer of the client. The messages never repeat values from the
 * request.
 *
 * @param errors Ajv's errors
 * @param part Fastify's name for the invalid part of the request
 */
export function fieldFaults(errors: readonly object[], part: string | undefined): FieldFault[] {
  const query = part === 'querystring';
  const wording = query ? queryWording : bodyWording;
  return explainSchemaErrors(errors as readonly SchemaError[], wording).map((finding) => {
    const pointer = pathTo(finding);
    return { pointer: query ? `?${pointer.slice(1)}` : pointer, detail: finding.detail };
  });
}

function pathTo({ pointer, member }: SchemaFinding): string {
  return member === undefined ? pointer : `${pointer}/${escapePointer(member)}`;
}

const bodyWording: Wording = {
  required: () => 'is required.',
  additionalProperties: (finding) =>
    finding.member === 'limits' ? noLimits : `is not a field of this request.${meant(finding)}`,
  type: ({ types }) =>
    `must be ${types.length === 0 ? 'a value of another type' : types.map(nameOfType).join(' or ')}.`,
  enum: ({ allowed }) => `must be one of ${allowed.join(', ')}.`,
  pattern: form,
  format: form,
  uniqueItems: () => 'must not hold anything twice.',
  not: ({ description }) => description ?? 'is not accepted.',
  minLength: bound((limit) => `have ${limit} or more characters`),
  maxLength: bound((limit) => `have ${limit} or fewer characters`),
  minItems: bound((limit) => `have ${limit} or more elements`),
  maxItems: bound((limit) => `have ${limit} or fewer elements`),
  minProperties: bound((limit) => `have ${limit} or more members`),
  maxProperties: bound((limit) => `have ${limit} or fewer members`),
  minimum: bound((limit) => `be ${limit} or more`),
  maximum: bound((limit) => `be ${limit} or less`),
  otherwise: bound(() => 'be otherwise'),
};

/** Reported if a call contains `limits` but cannot set them. Silently ignoring `limits` would mislead the caller. */
const noLimits = 'cannot be set by this call: change the account or the key by PATCH.';

const queryWording: Wording = {
  ...bodyWording,
  additionalProperties: (finding) => `is not a parameter of this operation.${meant(finding)}`,
};

/** Suggests a known name that is similar to the unknown name. The suggestion does not repeat the unknown name. */
function meant({ member = '', known }: SchemaFinding): string {
  // A short name is similar to too many others.
  const near = member.length < 3 ? undefined : suggest(member, known);
  return near === undefined ? '' : ` Did you mean \`${near}\`?`;
}

function form({ description }: SchemaFinding): string {
  return `must be ${description ?? 'of another form'}.`;
}

function bound(must: (limit: string) => string): (finding: SchemaFinding) => string {
  return ({ aboutName, limit }) => `${aboutName ? 'has a name that ' : ''}must ${must(String(limit))}.`;
}

function nameOfType(type: string): string {
  switch (type) {
    case 'object':
    case 'array':
    case 'integer':
      return `an ${type}`;
    case 'null':
      return 'null';
    default:
      return `a ${type}`;
  }
}
