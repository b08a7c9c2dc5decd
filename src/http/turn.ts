/**
 * Work of all uploads, tunnels and chunked responses in one turn of the event loop after which each may read once more
 * in this turn. Work is measured in bytes.
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
 * Counts work. Returns whether the connection that did it must rest, so that the others have their turn: libuv reads a
 * socket up to 32 times before it goes on to the next one. `goOn` is then called in a turn with room for as much work.
 */
export function restsAfter(work: number, goOn: () => void): boolean {
  done.add(work);
  const rests = work > littleWork && done.total > mostWork;
  if (rests) setImmediate(goOnWithRoom, work, goOn);
  return rests;
}

function goOnWithRoom(work: number, goOn: () => void): void {
  if (done.total > mostWork) return void setImmediate(goOnWithRoom, work, goOn);
  done.add(work);
  goOn();
}
