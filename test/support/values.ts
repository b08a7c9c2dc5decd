/** Ways through a chart's values. */
import type { Values } from './helm.ts';

export type ValuePath = readonly string[];

/** What a user sets: everything that is not a section. A section is a map that is not empty and not free in its keys. */
export function leaves(values: Values, parent: ValuePath = []): ValuePath[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const path = [...parent, key];
    return isSection(value, path) ? leaves(value, path) : [path];
  });
}

/** The maps whose keys the chart names, itself included. */
export function sections(values: Values, parent: ValuePath = []): ValuePath[] {
  const below = Object.entries(values).flatMap(([key, value]) => {
    const path = [...parent, key];
    return isSection(value, path) ? sections(value, path) : [];
  });
  return [parent, ...below];
}

/** The value at a path, or `undefined`. */
export function at(values: Values, path: ValuePath): unknown {
  return path.reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), values);
}

/** A copy in which the value at a path is another. */
export function withValue(values: Values, path: ValuePath, value: unknown): Values {
  const [key, ...rest] = path;
  if (key === undefined) return value as Values;
  const child = values[key];
  return { ...values, [key]: rest.length === 0 ? value : withValue(isMap(child) ? child : {}, rest, value) };
}

/** Maps of Kubernetes, with keys of the user's choice. */
const free = /^resources\.|\.(?:labels|annotations)$/;

function isSection(value: unknown, path: ValuePath): value is Values {
  return isMap(value) && Object.keys(value).length > 0 && !free.test(path.join('.'));
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
