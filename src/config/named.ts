import { keysOf, schema, type SchemaNode } from './schema.ts';

type Camel<K> = K extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : K;
type NameOf<K> = K extends `${infer A}_s` ? `${Camel<A>}Ms` : Camel<K>;

/**
 * Settings by their names in the program: `keep_alive_ms` is `keepAliveMs`. Durations in seconds (`max_age_s`) become
 * milliseconds (`maxAgeMs`). A setting that was left out and has no default is `null`.
 */
export type Named<T> = T extends readonly (infer U)[]
  ? readonly Named<U>[]
  : T extends object
    ? {
        readonly [K in keyof T as NameOf<K>]-?: undefined extends T[K]
          ? Named<NonNullable<T[K]>> | null
          : Named<T[K]>;
      }
    : T;

/** Names the settings of a mapping or a list of mappings, whose schema is `node`. */
export function named<T>(value: T, node: SchemaNode = schema): Named<T> {
  return nameAll(value, node) as Named<T>;
}

function nameAll(value: unknown, node: SchemaNode): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => nameAll(item, node.items ?? {}));
  if (node.properties === undefined || typeof value !== 'object') return value ?? null;
  const settings = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Array.from(keysOf(node), ([key, child]) => {
      const own = nameAll(settings[key], child);
      return typeof own === 'number' && key.endsWith('_s')
        ? [camel(`${key.slice(0, -2)}_ms`), 1000 * own]
        : [camel(key), own];
    }),
  );
}

function camel(key: string): string {
  return key.replace(/_(.)/g, (_, first: string) => first.toUpperCase());
}
