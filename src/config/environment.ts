import { formatPath, setAt, type Path } from './pointer.ts';
import { allKeys, type SchemaNode } from './schema.ts';

/** Variable or token file that each value came from, keyed by setting path. */
export type Origins = ReadonlyMap<string, string>;

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['off', false],
  ['false', false],
]);

/**
 * Writes the variables into the document. Variables take precedence over the file. An empty variable counts as unset,
 * because container tools pass unset variables as empty strings.
 *
 * @returns the variable that each value came from, so that a fault can name it
 */
export function overlayEnvironment(document: Record<string, unknown>, env: NodeJS.ProcessEnv): Origins {
  const origins = new Map<string, string>();
  for (const { path, node } of allKeys()) {
    const text = node.env === undefined ? undefined : env[node.env];
    if (node.env === undefined || text === undefined || text === '') continue;
    setAt(document, path, convert(text, node));
    origins.set(formatPath(path), node.env);
  }
  return origins;
}

/** Returns the variable or token file that the value at `path` came from; `undefined` if there is none. */
export function originOf(origins: Origins, path: Path): string | undefined {
  return origins.get(formatPath(path));
}

/**
 * Converts a variable to the type of its setting. A value that cannot be converted stays a string, which validation
 * then reports.
 */
function convert(text: string, { type }: SchemaNode): unknown {
  if ([type].flat().includes('integer')) return /^\d{1,15}$/.test(text) ? Number(text) : text;
  if (type === 'number') return /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
  if (type === 'boolean') return booleans.get(text.toLowerCase()) ?? text;
  return text;
}
