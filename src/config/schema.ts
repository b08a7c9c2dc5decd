import { readFileSync } from 'node:fs';
import { isMapping, type Path } from './pointer.ts';

/** The part of JSON Schema that `config/gateway.schema.json` uses. */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  /** Variable that overrides the key. */
  readonly env?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly allOf?: readonly SchemaNode[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
}

/** The schema: what keys there are, what they mean, their defaults and ranges stand there and nowhere else. */
export const schema: SchemaNode = JSON.parse(
  readFileSync(new URL('../../config/gateway.schema.json', import.meta.url), 'utf8'),
) as SchemaNode;

/** The keys of a mapping, those it shares with others included. */
export function keysOf(node: SchemaNode): ReadonlyMap<string, SchemaNode> {
  return new Map([
    ...Object.entries(node.properties ?? {}),
    ...(node.allOf ?? []).flatMap((part) => [...keysOf(resolve(part))]),
  ]);
}

/** The schema of what lies at `path`. */
export function nodeAt(path: Path): SchemaNode | undefined {
  let node: SchemaNode | undefined = schema;
  for (const part of path) node = typeof part === 'number' ? node?.items : node && keysOf(node).get(part);
  return node;
}

/** Every key with its path, mappings before what they hold; list positions are left out. */
export function* allKeys(
  node: SchemaNode = schema,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly node: SchemaNode }> {
  for (const [name, child] of keysOf(node)) {
    yield { path: [...path, name], node: child };
    yield* allKeys(child.items ?? child, [...path, name]);
  }
}

/** `value` with the default of every key it leaves out. */
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

function resolve(node: SchemaNode): SchemaNode {
  const name = node.$ref?.replace('#/$defs/', '');
  return name === undefined ? node : (schema.$defs?.[name] ?? node);
}
