import type {
  ContextConfigDefault,
  FastifyBaseLogger,
  FastifyInstance,
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
 * Derives the types of handlers from their schemas, so that one declaration serves validation, serialisation and
 * typing.
 */
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

/** A typed app on which each route must say in its `config` who may call it. */
export type RoutesWith<Access> = Readonly<
  Record<'get' | 'post' | 'put' | 'patch' | 'delete', AddRoute<Access>>
>;

/**
 * Schema of a text or `null`. It is not a union of schemas, because validators would report one fault for each member
 * of a union.
 */
export function nullableText(options: Readonly<Record<string, unknown>> = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

/** Schema of a whole number or `null`. */
export function nullableInteger(options: Readonly<Record<string, unknown>> = {}) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

/** A time in responses: RFC 3339 in UTC, to the millisecond. */
export const timestamp = Type.String({ format: 'date-time' });
export const nullableTimestamp = nullableText({ format: 'date-time' });

/** Schema of an object with the declared members and no others, in requests and responses. */
export function closed<P extends Parameters<typeof Type.Object>[0]>(properties: P, options: object = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** Query schema of an operation that rejects every query parameter. */
export const noQuery = closed({});
