import type { Store } from '../adapters/postgres/store.ts';
import { usualKeyPrefix } from '../domain/api-key.ts';

/** Thrown if imported keys begin with `keys.prefix`: the gateway would reject them as mistyped keys of its own. */
export class KeyPrefixTaken extends Error {
  override readonly name = 'KeyPrefixTaken';

  constructor(prefix: string, keys: number) {
    super(
      `keys.prefix is ${prefix}, but at least ${keys} imported ${keys === 1 ? 'key begins' : 'keys begin'} like ${prefix}_ and ` +
        'would be rejected as mistyped. Choose another prefix',
    );
  }
}

/**
 * Checks that no imported key begins with `prefix`, because such a key would be rejected. Imported keys whose start is
 * unknown are not checked.
 *
 * @throws {KeyPrefixTaken} if an imported key begins with `prefix`
 * @throws {ProblemError} if the store cannot be reached
 */
export async function refuseTakenPrefix(
  store: Pick<Store, 'importedKeysLike'>,
  prefix: string,
): Promise<void> {
  // No imported key has the default prefix, because imports always reject such keys.
  if (prefix === usualKeyPrefix) return;
  const keys = await store.importedKeysLike(prefix);
  if (keys > 0) throw new KeyPrefixTaken(prefix, keys);
}
