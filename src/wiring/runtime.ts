import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Per cent by which the old generation may grow after a collection before V8 collects it again. */
const growthPercent = 200;

/** Niceness of helper threads: on a busy core they get a tenth of the main thread's time. */
const niceness = 10;

/**
 * Keeps V8's helper threads, which collect garbage and compile, from delaying requests. On one core under load, the
 * four helpers of a large collection take up four fifths of the core, and requests wait up to 240 ms; with a lower
 * priority for the helpers, up to 80 ms. Large collections also become rarer: V8 normally starts one when the heap has
 * grown by about half, but with this flag only when it has tripled. The limit that Node derives from the container's
 * memory is unchanged.
 *
 * The effect shows under a flood of made-up keys (`npm run bench:outages -- --scenario garbage`): a collection every
 * forty seconds delays one in a hundred requests from known callers. Call this function first, while V8's helpers are
 * the only other threads.
 */
export function favourRequests(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  try {
    for (const thread of otherThreads()) setPriority(thread, niceness);
  } catch {
    // Lowering the priority is only an optimisation, and the system may forbid it.
  }
}

/**
 * Returns the ids of the other threads on Linux. On other systems it returns none, because a priority applies to the
 * whole process there.
 */
function otherThreads(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/task')
    .map(Number)
    .filter((id) => id !== process.pid);
}
