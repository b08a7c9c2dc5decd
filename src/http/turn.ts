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
/** What each connection that rests goes on with, and how much it may then do in a row, in the order of their turns. */
const resting = new Map<() => void, number>();
/** Work that connections may still do in this turn. It counts as done already. */
const granted = new Map<() => void, number>();

/**
 * Counts work. Returns whether the connection that did it must rest, so that the others have their turn: libuv reads a
 * socket up to 32 times before it goes on to the next one. `goOn` is then called in a turn with room for more of it.
 *
 * @param inARow work that the connection may do in that turn: the more in a row, the less time it takes, but what is set
 *   aside and not done leaves the turn short
 */
export function restsAfter(work: number, goOn: () => void, inARow = work): boolean {
  const left = granted.get(goOn) ?? 0;
  if (left > 0) granted.set(goOn, Math.max(0, left - work));
  if (left > work) return false;
  done.add(work - left);
  if (work <= littleWork || !done.isFull) return false;
  if (resting.size === 0 && granted.size === 0) setImmediate(startTurns);
  resting.set(goOn, inARow);
  return true;
}

function startTurns(): void {
  granted.clear();
  if (resting.size > 0) setImmediate(startTurns);
  for (const [goOn, inARow] of resting) {
    if (done.isFull) break;
    resting.delete(goOn);
    granted.set(goOn, inARow);
    done.add(inARow);
    goOn();
  }
}
