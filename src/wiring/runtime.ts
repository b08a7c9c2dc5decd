import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Per cent by which V8's old generation may grow after a collection before V8 collects it again. */
const growthPercent = 200;

/** Niceness of helper threads: on a busy core they get a tenth of the main thread's time. */
const niceness = 10;

/**
 * Keeps V8's helper threads from delaying requests. The helpers collect garbage and compile. Call this function first,
 * while the helpers are the only other threads.
 *
 * The helpers get a lower priority. Without it, the four helpers of a large collection take up four fifths of a single
 * core, and requests wait up to 240 ms. With it, requests wait up to 80 ms.
 *
 * `--heap-growing-percent` makes large collections rarer. With this flag, V8 starts a large collection when the heap
 * has tripled; without it, when the heap has grown by about half. The heap limit that Node.js derives from the
 * container's memory is unchanged.
 *
 * To see the effect, run `npm run bench:outages -- --scenario garbage`, a flood of made-up keys. In that flood, even
 * one large collection every forty seconds delays one in a hundred requests from known callers.
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
