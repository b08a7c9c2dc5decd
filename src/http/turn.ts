/**
 * Work of all bodies and tunnels in one turn of the event loop after which each may read once more in this turn. Work
 * is measured in bytes.
 */
const mostWork = 1024 * 1024;
/** Work that is done before the socket is read again in any case. */
const littleWork = 16 * 1024;
/** Work for a chunk or a frame, beside its bytes. */
export const pieceWork = 128;

let done = 0;

/**
 * Counts work. Returns whether whoever has done it must rest until the next turn of the event loop, so that everybody
 * else has theirs: libuv reads a socket up to 32 times before it goes on to the next one.
 */
export function mustRestAfter(work: number): boolean {
  if (done === 0) setImmediate(() => (done = 0));
  done += work;
  return work > littleWork && done > mostWork;
}
