import type { FactKey } from '../../ports/facts.ts';

/**
 * Returns the name under which memory holds a fact: the digest of an API key, the id of an account, or the full name of
 * any other fact. Decisions already have digests and ids in this form. Building the full name would cost more than the
 * rest of the decision.
 *
 * No two facts in one table share a name. API keys have a table of their own. In the table for other facts, every name
 * begins with a kind and a colon, except for the names of accounts.
 */
export function nameInMemory(key: FactKey): string {
  if (!key.startsWith('k:') && !key.startsWith('a:')) return key;
  // Copies the characters. `slice` would return a view into `key`, and views are slow to compare.
  return Buffer.from(key, 'latin1').toString('latin1', 2);
}

/** Returns the full name of a fact that is not an API key, from its name in memory. */
export function keyOfName(name: string): FactKey {
  return name.charAt(1) === ':' ? (name as FactKey) : `a:${name}`;
}
