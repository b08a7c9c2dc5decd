import type {
  ContextConfigDefault,
  FastifySchema,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
  RouteHandlerMethod,
  RouteShorthandOptions,
} from 'fastify';
import { Type, type Static, type TSchema } from 'typebox';

/**
 * Derives the types of handlers from their schemas, so that a single declaration serves validation, serialisation and
 * typing.
 */
export interface TypeBoxProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

type AddRoute<Access> = <const Schema extends FastifySchema>(
  path: string,
  options: Omit<
    RouteShorthandOptions<
      RawServerDefault,
      RawRequestDefaultExpression,
      RawReplyDefaultExpression,
      RouteGenericInterface,
      ContextConfigDefault,
      Schema,
      TypeBoxProvider
    >,
    'config'
  > & { readonly config: Access },
  handler: RouteHandlerMethod<
    RawServerDefault,
    RawRequestDefaultExpression,
    RawReplyDefaultExpression,
    RouteGenericInterface,
    ContextConfigDefault,
    Schema,
    TypeBoxProvider
  >,
) => unknown;

/** A typed app whose routes must each say in their `config` who may call them. */
export type RoutesWith<Access> = Readonly<
  Record<'get' | 'post' | 'put' | 'patch' | 'delete', AddRoute<Access>>
>;

/**
 * Schema of a string or `null`. The schema is not a union, because validators would report a fault for each member of
 * the union.
 */
export function nullableText(options: Readonly<Record<string, unknown>> = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

/** Schema of an integer or `null`. */
export function nullableInteger(options: Readonly<Record<string, unknown>> = {}) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

/** A timestamp in responses: RFC 3339 in UTC, to the millisecond. */
export const timestamp = Type.String({ format: 'date-time' });
export const nullableTimestamp = nullableText({ format: 'date-time' });

/** Schema of an object that has only the declared members, in requests as well as responses. */
export function closed<P extends Parameters<typeof Type.Object>[0]>(properties: P, options: object = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** Query schema for operations that take no query parameters and reject any that are sent. */
export const noQuery = closed({});
