import type { FactKey } from '../../ports/facts.ts';

/**
 * Name of a fact in memory: the digest for a key, the id for an account. Requests bring both in this form, so a
 * decision builds no strings, which would cost more than the rest of it. Keys have a table of their own; among the
 * others an id has 36 characters and no colon, and all other names begin with their kind.
 */
export function nameInMemory(key: FactKey): string {
  if (!key.startsWith('k:') && !key.startsWith('a:')) return key;
  // Copies the text, since slice() returns a view of the longer text, which is slow to compare.
  return Buffer.from(key, 'latin1').toString('latin1', 2);
}

/** Fact with this name in memory, which is not an API key. */
export function keyOfName(name: string): FactKey {
  return name.charAt(1) === ':' ? (name as FactKey) : `a:${name}`;
}
