import type { FactKey } from '../../ports/facts.ts';

/**
 * Returns the name under which memory holds a fact: the digest of an API key, the id of an account, or the full name of
 * any other fact. Decisions already have digests and ids in this form, so they need not build strings, which would cost
 * more than the rest of the decision. API keys have their own table. In the table for other facts, account names are
 * the only ones that do not begin with a kind and a colon.
 */
export function nameInMemory(key: FactKey): string {
  if (!key.startsWith('k:') && !key.startsWith('a:')) return key;
  // Copies the string, since slice() returns a view into the longer one, which is slow to compare.
  return Buffer.from(key, 'latin1').toString('latin1', 2);
}

/** Returns the full name of a fact that is not an API key, from its name in memory. */
export function keyOfName(name: string): FactKey {
  return name.charAt(1) === ':' ? (name as FactKey) : `a:${name}`;
}
