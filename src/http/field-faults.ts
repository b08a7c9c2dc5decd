import type { ErrorObject } from 'ajv';
import type { FieldFault } from '../domain/problem.ts';
import { escapePointer } from './invalid-request.ts';

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

function detailOf({ keyword, params, parentSchema, propertyName }: ErrorObject, query: boolean): string {
  const { description } = (parentSchema ?? {}) as { description?: string };
  const { type, allowedValues, limit } = params as {
    type?: string;
    allowedValues?: unknown[];
    limit?: number;
  };
  switch (keyword) {
    case 'required':
      return 'is required.';
    case 'additionalProperties':
      return query ? 'is not a parameter of this operation.' : 'is not a field of this request.';
    case 'type':
      return `must be ${[type].flat().map(nameOfType).join(' or ')}.`;
    case 'enum':
      return `must be one of ${(allowedValues ?? []).join(', ')}.`;
    case 'pattern':
    case 'format':
      return `must be ${description ?? 'of another form'}.`;
    case 'uniqueItems':
      return 'must not hold anything twice.';
    case 'not':
      return description ?? 'is not accepted.';
    default:
      return `${propertyName === undefined ? '' : 'has a name that '}must ${bound(keyword, limit)}.`;
  }
}

function bound(keyword: string, limit: number | undefined): string {
  const words = bounds[keyword];
  return words === undefined ? 'be otherwise' : words.replace('#', String(limit));
}

const bounds: Readonly<Record<string, string>> = {
  minLength: 'have # or more characters',
  maxLength: 'have # or fewer characters',
  minItems: 'have # or more elements',
  maxItems: 'have # or fewer elements',
  minProperties: 'have # or more members',
  maxProperties: 'have # or fewer members',
  minimum: 'be # or more',
  maximum: 'be # or less',
};

function nameOfType(type: string | undefined): string {
  switch (type) {
    case 'object':
    case 'array':
    case 'integer':
      return `an ${type}`;
    case 'null':
      return 'null';
    default:
      return `a ${type ?? 'value of another type'}`;
  }
}
