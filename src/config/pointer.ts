/** Path to a value in the document, from the root: setting names and list indexes. */
export type Path = readonly (string | number)[];

/** Formats a path for people: `routes[0].timeouts.connect_ms`. */
export function formatPath(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}

/** Converts a JSON pointer (RFC 6901) into `document` to a path. List indexes become numbers. */
export function parsePointer(pointer: string, document: unknown): Path {
  const path: (string | number)[] = [];
  let value = document;
  for (const raw of pointer.split('/').slice(1)) {
    const name = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    const part = Array.isArray(value) ? Number(name) : name;
    path.push(part);
    value = childOf(value, part);
  }
  return path;
}

/** Whether `value` is an object other than a list. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at `path`; `undefined` if there is none. */
function valueAt(document: unknown, path: Path): unknown {
  return path.reduce<unknown>(childOf, document);
}

/**
 * Sets `value` at `path`, creating missing mappings along the way. Does nothing if a value along the path is not a
 * mapping.
 */
export function setAt(document: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    document[name] = value;
    return;
  }
  const child = (document[name] ??= {});
  if (isMapping(child)) setAt(child, rest, value);
}

/** Removes the value at `path`. A list item is replaced with `undefined`, so that later items keep their indexes. */
export function removeAt(document: unknown, path: Path): void {
  const parent = valueAt(document, path.slice(0, -1));
  const name = path.at(-1);
  if (Array.isArray(parent) && typeof name === 'number') parent[name] = undefined;
  else if (isMapping(parent) && typeof name === 'string') delete parent[name];
}

function childOf(value: unknown, part: string | number): unknown {
  if (typeof part === 'number') return Array.isArray(value) ? value[part] : undefined;
  return isMapping(value) && Object.hasOwn(value, part) ? value[part] : undefined;
}
