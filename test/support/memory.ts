/** Memory of this process once garbage is collected. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects garbage, all of it. */
export const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap and of buffers that are alive. */
export function bytesInUse(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
