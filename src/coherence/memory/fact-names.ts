import type { FactKey } from '../../ports/facts.ts';

/**
 * Name of a fact in memory: the digest for a key, the id for an account. Requests bring both in this form, so a
 * decision need not build strings, which would cost more than the rest of the decision. API keys have a table of their
 * own. In the table of the other facts, an account's id has 36 characters and no colon; all other names begin with
 * their kind.
 */
export function nameInMemory(key: FactKey): string {
  if (!key.startsWith('k:') && !key.startsWith('a:')) return key;
  // Copies the text, since slice() returns a view of the longer text, which is slow to compare.
  return Buffer.from(key, 'latin1').toString('latin1', 2);
}

/** Returns the key of the fact that has this name in memory and is not an API key. */
export function keyOfName(name: string): FactKey {
  return name.charAt(1) === ':' ? (name as FactKey) : `a:${name}`;
}
