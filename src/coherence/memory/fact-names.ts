import type { FactKey } from '../../ports/facts.ts';

/**
 * Returns the name of a fact in memory: the digest of an API key, the id of an account, or else the full name. A
 * decision has digests and ids in this form, so it need not build strings, which would cost more than the rest of the
 * decision. API keys have a table of their own. In the table of the other facts, only the names of accounts do not
 * begin with a kind and a colon.
 */
export function nameInMemory(key: FactKey): string {
  if (!key.startsWith('k:') && !key.startsWith('a:')) return key;
  // Copies the text, since slice() returns a view of the longer text, which is slow to compare.
  return Buffer.from(key, 'latin1').toString('latin1', 2);
}

/** Returns the full name of a fact that is not an API key, from its name in memory. */
export function keyOfName(name: string): FactKey {
  return name.charAt(1) === ':' ? (name as FactKey) : `a:${name}`;
}
