import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import { Type, type Static, type TSchema } from 'typebox';

/** Gives handlers the types of their schemas: one declaration validates, serialises and types. */
export interface TypeBoxProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

/** A Fastify instance whose routes are typed by their schemas. */
export type TypedApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxProvider
>;

/**
 * A text or `null`. Not a union of schemas, which validators and serialisers would have to try one by one, and which
 * report a fault for each of them where a value is wrong.
 */
export function nullableText(options: Readonly<Record<string, unknown>> = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

/** A whole number or `null`. */
export function nullableInteger(options: Readonly<Record<string, unknown>> = {}) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

/** A moment in responses: RFC 3339 in UTC, to the millisecond. */
export const timestamp = Type.String({ format: 'date-time' });
export const nullableTimestamp = nullableText({ format: 'date-time' });

/** An object that holds what is declared and nothing else, in requests and in responses. */
export function closed<P extends Parameters<typeof Type.Object>[0]>(properties: P, options: object = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** Schemas of an operation without query parameters: any is rejected. */
export const noQuery = closed({});
