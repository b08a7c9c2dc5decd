import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Per cent by which the old generation may grow before it is collected, of what was left by the last collection. */
const growthPercent = 200;

/** How far helper threads stand back: they get a tenth of the time that the main thread gets where both want a core. */
const niceness = 10;

/**
 * Keeps V8's helper threads, which collect and compile, from standing in the way of requests. Where a process has one
 * core and a large collection begins under load, its four helpers take four fifths of the core: what waits meanwhile comes to
 * 240 ms, and to 80 ms where they stand back. And large collections are rarer: they wait until the heap is three times what is
 * alive in it; V8 alone begins at about half more. The limit that Node takes from the container's memory holds as before.
 *
 * Known callers notice it under a flood of made-up keys (`npm run bench:outages -- --scenario garbage`): a collection every
 * forty seconds is enough to be felt by one request in a hundred. To be called first of all, while there are no other threads.
 */
export function favourRequests(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  try {
    for (const thread of otherThreads()) setPriority(thread, niceness);
  } catch {
    // Not allowed here, or nothing to be seen of threads: nothing that anything depends on.
  }
}

/** Their ids, on Linux; elsewhere a priority is the process's alone. */
function otherThreads(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/task')
    .map(Number)
    .filter((id) => id !== process.pid);
}
