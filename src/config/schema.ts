import { gatewayFile } from './gateway-file.ts';
import { isMapping, type Path } from './pointer.ts';

/** The part of JSON Schema that the configuration uses. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** Environment variable that overrides the setting. */
  readonly env?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/** Schema for validating a file. Unlike in {@link gatewayFile}, a setting that has a default may be left out. */
export const schema: SchemaNode = asWritten(gatewayFile);

function asWritten(node: SchemaNode): SchemaNode {
  const { description, required, properties, items, ...rest } = node;
  const needed = required?.filter((name) => properties?.[name]?.default === undefined) ?? [];
  return {
    ...(description !== undefined && { description }),
    ...rest,
    ...(needed.length > 0 && { required: needed }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, child]) => [name, asWritten(child)]),
      ),
    }),
    ...(items && { items: asWritten(items) }),
  };
}

/** Returns the schemas of a mapping's settings, keyed by name. */
export function keysOf(node: SchemaNode): ReadonlyMap<string, SchemaNode> {
  return new Map(Object.entries(node.properties ?? {}));
}

/** Returns the schema of the value at `path`; `undefined` if the path is unknown. */
export function nodeAt(path: Path): SchemaNode | undefined {
  let node: SchemaNode | undefined = schema;
  for (const part of path) node = typeof part === 'number' ? node?.items : node && keysOf(node).get(part);
  return node;
}

/** Yields every setting with its path, which does not contain list indexes. A mapping comes before its settings. */
export function* allKeys(
  node: SchemaNode = schema,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly node: SchemaNode }> {
  for (const [name, child] of keysOf(node)) {
    yield { path: [...path, name], node: child };
    yield* allKeys(child.items ?? child, [...path, name]);
  }
}

/** Fills in the default of every setting that `value` leaves out. */
export function withDefaults(value: unknown, node: SchemaNode = schema): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withDefaults(item, node.items ?? {}));
  if (!isMapping(value)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, child] of keysOf(node)) {
    const own = filled[name] === undefined ? child.default : filled[name];
    if (own !== undefined) filled[name] = withDefaults(own, child);
  }
  return filled;
}
