import type { Config } from '../config.ts';
import { openEmbedded } from '../adapters/embedded/store.ts';
import { openPostgres, type Store } from '../adapters/postgres/store.ts';

export type { Store };

/** Opens the store the configuration asks for. PostgreSQL is connected to when it is first used. */
export async function openStore(config: Config['store']): Promise<Store> {
  return config.kind === 'embedded'
    ? openEmbedded(config.dataDir)
    : openPostgres({ url: config.url, maxConnections: config.maxConnections });
}
