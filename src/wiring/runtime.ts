import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Growth of the old generation since its last collection, in per cent, after which it is collected again. */
const growthPercent = 200;

/** Niceness of helper threads: on a busy core they get a tenth of the main thread's time. */
const niceness = 10;

/**
 * Keeps V8's helper threads, which collect garbage and compile, from delaying requests. On one core under load, the
 * four helpers of a large collection take four fifths of the core, and requests wait up to 240 ms. With lower priority
 * they wait up to 80 ms. Large collections also become rarer: V8 starts them when the heap has grown by about half, and
 * here when it has tripled. The limit that Node takes from the container's memory is unchanged.
 *
 * The effect shows under a flood of made-up keys (`npm run bench:outages -- --scenario garbage`): a collection every
 * forty seconds delays one request in a hundred of known callers. Call it first, while there are no other threads.
 */
export function favourRequests(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  try {
    for (const thread of otherThreads()) setPriority(thread, niceness);
  } catch {
    // Priorities only optimise, and the system may forbid them.
  }
}

/** Ids of the other threads, on Linux; elsewhere priorities belong to the whole process. */
function otherThreads(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/task')
    .map(Number)
    .filter((id) => id !== process.pid);
}
