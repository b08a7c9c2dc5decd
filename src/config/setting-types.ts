import { Type, type Static, type TSchema, type TUnsafe } from 'typebox';

/** Options of a setting, besides its description. */
interface KeyOptions<T> {
  /** Default of the setting. A setting without a default is required, unless it is wrapped in `Type.Optional`. */
  readonly default?: T;
  /** Environment variable that overrides the setting. */
  readonly env?: string;
  /**
   * Examples for a setting whose default does not show what a value looks like. In `config/gateway.yaml` they are in a
   * comment.
   */
  readonly examples?: readonly unknown[];
}

interface TextOptions extends KeyOptions<string> {
  /** Name of a format in `formats.ts`. Without a format, any string is valid except an empty one. */
  readonly format?: string;
}

interface NumberOptions extends KeyOptions<number> {
  readonly minimum: number;
  readonly maximum?: number;
}

/**
 * A mapping with the settings in `keys` and no others. If the mapping is left out, all of its settings have their
 * defaults.
 */
export function section<P extends Record<string, TSchema>>(description: string, keys: P) {
  return Type.Object(keys, { description, additionalProperties: false, default: {} });
}

/** A mapping that may be left out entirely, but must otherwise be complete. */
export function optionalSection<P extends Record<string, TSchema>>(
  description: string,
  keys: P,
  options: KeyOptions<never>,
) {
  return Type.Optional(Type.Object(keys, { description, additionalProperties: false, ...options }));
}

export function text(description: string, options: TextOptions = {}) {
  return Type.String({ description, ...(options.format === undefined && { minLength: 1 }), ...options });
}

export function integer(description: string, options: NumberOptions) {
  return Type.Integer({ description, ...options });
}

/** A whole number, or `auto` to let the gateway choose one at start. */
export function integerOrAuto(description: string, options: NumberOptions) {
  const schema = { type: ['integer', 'string'], format: 'auto', description, ...options };
  return schema as typeof schema & TUnsafe<number | 'auto'>;
}

/** A number from 0 to 1. */
export function fraction(description: string, options: KeyOptions<number>) {
  return Type.Number({ description, minimum: 0, maximum: 1, ...options });
}

export function flag(description: string, options: KeyOptions<boolean>) {
  return Type.Boolean({ description, ...options });
}

export function oneOf<T extends string>(description: string, values: readonly T[], options: KeyOptions<T>) {
  return Type.Enum([...values], { description, ...options });
}

/** A list that may be left out. Leaving it out does not mean the same as an empty list. */
export function optionalList<S extends TSchema>(description: string, items: S) {
  return Type.Optional(Type.Array(items, { description, maxItems: 1000 }));
}

/** A list of at most 1,000 items; empty unless `options` says otherwise. */
export function list<S extends TSchema>(
  description: string,
  items: S,
  options: KeyOptions<readonly Static<S>[]> & { readonly maxItems?: number },
) {
  return Type.Array(items, { description, maxItems: 1000, default: [], ...options });
}
