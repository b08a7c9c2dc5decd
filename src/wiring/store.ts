import type { Config } from '../config.ts';
import { openPostgres, type Store } from '../adapters/postgres/store.ts';

export type { Store };

/** Opens the store the configuration asks for. PostgreSQL is connected to when it is first used. */
export async function openStore(config: Config['store']): Promise<Store> {
  if (config.kind === 'postgres')
    return openPostgres({ url: config.url, maxConnections: config.maxConnections });
  const { openEmbedded } = await embedded();
  return openEmbedded(config.dataDir);
}

/** Loaded only where it is wanted: the container image does without it. */
async function embedded(): Promise<typeof import('../adapters/embedded/store.ts')> {
  try {
    return await import('../adapters/embedded/store.ts');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error('the embedded store is not installed here: set DATABASE_URL', { cause: error });
  }
}
