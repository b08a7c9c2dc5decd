/**
 * Work of all requests, bodies and tunnels in one turn of the event loop after which each may read once more in this
 * turn. Work is measured in bytes. If 1,024 sockets or more are readable, libuv reads as many of them up to 48 times
 * before a turn ends.
 */
const mostWork = 8 * 1024 * 1024;
/** The part of {@link mostWork} after which work is counted from zero again behind the turn. */
const leastCounted = mostWork / 4;
/** Work that is done before the socket is read again in any case. */
const littleWork = 16 * 1024;
/** Work for a request, beside its head and its body: about as many bytes of a body take as much processor time. */
export const requestWork = 64 * 1024;
/** Work for a byte of a request's head. */
export const headByteWork = 32;
/** Work for a chunk or a frame, beside its bytes. */
export const pieceWork = 1024;

/** Network of the client that work is for; networks have their turns one after the other. */
export interface OfNetwork {
  readonly network: string;
}

interface Rest {
  /** Work that the connection may then do in a row. */
  readonly inARow: number;
  /** Monotonic time since which it rests. */
  readonly sinceMs: number;
}

/** Work that was done, or is set aside, in this turn. A callback in each turn would cost more than most turns do. */
let done = 0;
/** Connections that rest, by what they go on with, for each network of clients, in the order of their turns. */
const resting = new Map<string, Map<() => void, Rest>>();
/** Work that connections may still do in this turn. It counts as done already. */
const granted = new Map<() => void, number>();
/** How often connections have gone on since the latest {@link meanRestMs}, and for how long they had rested in all. */
let rests = 0;
let restedMs = 0;

/**
 * Counts work. Returns whether the connection that did it must rest, so that the others have their turn: libuv reads a
 * socket up to 32 times before it goes on to the next one. `goOn` is then called in a turn with room for more of it.
 *
 * @param inARow work that the connection may do in that turn: the more in a row, the less time it takes, but what is set
 *   aside and not done leaves the turn short
 */
export function restsAfter(work: number, goOn: () => void, of: OfNetwork, inARow = work): boolean {
  if (noteWork(work, goOn) || work <= littleWork || done < mostWork) return false;
  rest(goOn, of, inARow);
  return true;
}

/** Returns whether a connection must rest before it does work. `goOn` is then called in a turn with room for it. */
export function restsBefore(work: number, goOn: () => void, of: OfNetwork): boolean {
  if (done < mostWork || (granted.get(goOn) ?? 0) > 0) return false;
  rest(goOn, of, work);
  return true;
}

/** Counts work. Returns whether the connection may do more of it in this turn in any case. */
export function noteWork(work: number, goOn: () => void): boolean {
  const left = granted.get(goOn) ?? 0;
  if (left > 0) granted.set(goOn, Math.max(0, left - work));
  if (left > work) return true;
  add(work - left);
  return false;
}

function add(work: number): void {
  const isLittle = done < leastCounted;
  done += work;
  if (isLittle && done >= leastCounted) setImmediate(startTurn);
}

function startTurn(): void {
  done = 0;
}

function rest(goOn: () => void, { network }: OfNetwork, inARow: number): void {
  if (resting.size === 0 && granted.size === 0) setImmediate(startTurns);
  const line = resting.get(network) ?? new Map<() => void, Rest>();
  resting.set(network, line.set(goOn, { inARow, sinceMs: performance.now() }));
}

/** Returns for how long connections had rested that have gone on since the previous call: the mean, in milliseconds. */
export function meanRestMs(): number {
  const mean = rests === 0 ? 0 : restedMs / rests;
  [rests, restedMs] = [0, 0];
  return mean;
}

function startTurns(): void {
  granted.clear();
  if (resting.size > 0) setImmediate(startTurns);
  // A network whose line goes on is put behind the others, and comes again.
  for (const [network, line] of resting) {
    if (done >= mostWork) break;
    resting.delete(network);
    const [[goOn, { inARow, sinceMs }]] = line as unknown as [[() => void, Rest]];
    line.delete(goOn);
    rests += 1;
    restedMs += performance.now() - sinceMs;
    if (line.size > 0) resting.set(network, line);
    granted.set(goOn, inARow);
    add(inARow);
    goOn();
  }
}
