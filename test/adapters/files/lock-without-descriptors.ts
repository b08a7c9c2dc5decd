/** Wants a folder again and again with few descriptors left, and prints how each try ended. Run by folder-lock.test.ts. */
import { closeSync, openSync } from 'node:fs';
import { lockFolder } from '../../../src/adapters/files/folder-lock.ts';

const folder = process.argv[2] ?? '';
const atOnce = 20;

/** Takes every descriptor that is left but `free`. */
function takeAllBut(free: number): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    for (const fd of taken.splice(0, free)) closeSync(fd);
  }
  return taken;
}

for (let free = atOnce; free < 3 * atOnce; free += 2) {
  const taken = takeAllBut(free);
  const tries = await Promise.allSettled(Array.from({ length: atOnce }, () => lockFolder(folder)));
  for (const fd of taken) closeSync(fd);
  for (const one of tries) {
    if (one.status === 'fulfilled') console.log('taken');
    else console.log((one.reason as NodeJS.ErrnoException).code ?? (one.reason as Error).name);
  }
}
