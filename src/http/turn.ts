/**
 * Work of all bodies and tunnels in one turn of the event loop after which each may read once more in this turn. Work
 * is measured in bytes.
 */
const mostWork = 1024 * 1024;
/** Work that is done before the socket is read again in any case. */
const littleWork = 16 * 1024;
/** Work for a chunk or a frame, beside its bytes. */
export const pieceWork = 128;

/** An amount that counts from zero again in each turn of the event loop. */
export class TurnTotal {
  total = 0;

  add(amount: number): void {
    if (this.total === 0) setImmediate(startTurn, this);
    this.total += amount;
  }
}

function startTurn(counted: TurnTotal): void {
  counted.total = 0;
}

const done = new TurnTotal();

/**
 * Counts work. Returns whether the connection that did it must rest until the next turn of the event loop, so that the
 * others have theirs: libuv reads a socket up to 32 times before it goes on to the next one.
 */
export function mustRestAfter(work: number): boolean {
  done.add(work);
  return work > littleWork && done.total > mostWork;
}
