import { readdirSync } from 'node:fs';

/** Files that have a process to themselves: what other files load and leave behind would be measured, too. */
const alone = ['guard-mutations', 'header-name-memory'];
const folder = new URL('../../security/', import.meta.url);

/** Imports the tests of attacks, once the environment says which client the gateways of this run forward with. */
export async function importAttacks(isWanted = (_attack: string): boolean => true): Promise<void> {
  for (const file of readdirSync(folder).sort()) {
    const attack = file.replace('.test.ts', '');
    if (file.endsWith('.test.ts') && !alone.includes(attack) && isWanted(attack))
      await import(new URL(file, folder).href);
  }
}
