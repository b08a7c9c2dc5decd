import type { FactKey } from '../../ports/facts.ts';

/**
 * What a fact goes by in memory: a key by its digest and an account by its id, as requests have them, so that a
 * decision need not put text together; it would cost more than all the rest. Keys are held apart; of the others an id has
 * 36 characters and no colon, and what is left begins with its kind.
 */
export function nameInMemory(key: FactKey): string {
  if (!key.startsWith('k:') && !key.startsWith('a:')) return key;
  // A copy of its own: what slice() gives is a view of the longer text, which is slow to compare.
  return Buffer.from(key, 'latin1').toString('latin1', 2);
}

/** The fact that goes by `name`, which is not an API key. */
export function keyOfName(name: string): FactKey {
  return name.charAt(1) === ':' ? (name as FactKey) : `a:${name}`;
}
