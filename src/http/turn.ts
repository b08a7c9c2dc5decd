/**
 * Work of all bodies and tunnels in one turn of the event loop after which each may read once more in this turn. Work
 * is measured in bytes.
 */
const mostWork = 8 * 1024 * 1024;
/** Work that is done before the socket is read again in any case. */
const littleWork = 16 * 1024;
/** Work for a chunk or a frame, beside its bytes. */
export const pieceWork = 1024;

/**
 * What is done in one turn of the event loop. It counts from zero again after the turn in which it has reached a quarter
 * of the limit, because a callback in each turn would cost more than most turns do.
 */
export class TurnTotal {
  #total = 0;
  readonly #most: number;

  /** @param most the limit */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether the limit has been reached in this turn. */
  get isFull(): boolean {
    return this.#total >= this.#most;
  }

  add(amount: number): void {
    const isLittle = this.#total < this.#most / 4;
    this.#total += amount;
    if (isLittle && this.#total >= this.#most / 4) setImmediate(this.#startTurn);
  }

  readonly #startTurn = (): void => {
    this.#total = 0;
  };
}

const done = new TurnTotal(mostWork);

/**
 * Counts work. Returns whether the connection that did it must rest, so that the others have their turn: libuv reads a
 * socket up to 32 times before it goes on to the next one. `goOn` is then called in a turn with room for as much work.
 */
export function restsAfter(work: number, goOn: () => void): boolean {
  done.add(work);
  const rests = work > littleWork && done.isFull;
  if (rests) setImmediate(goOnWithRoom, work, goOn);
  return rests;
}

function goOnWithRoom(work: number, goOn: () => void): void {
  if (done.isFull) return void setImmediate(goOnWithRoom, work, goOn);
  done.add(work);
  goOn();
}
