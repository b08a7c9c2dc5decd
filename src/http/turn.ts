/**
 * Work of all requests, bodies and tunnels in one turn of the event loop after which each may read once more in this
 * turn. Work is measured in bytes. If 1,024 sockets or more are readable, libuv reads as many of them up to 48 times
 * before a turn ends.
 */
const mostWork = 8 * 1024 * 1024;
/** Milliseconds that a turn may take. Bytes are dear for the system if a client takes them in small segments. */
const turnMs = 10;
/** The part of {@link mostWork} after which work is counted from zero again behind the turn. */
const leastCounted = mostWork / 4;
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

/** Work that was done, or is set aside, in this turn. */
let done = 0;
/** Work that this turn has room for: as much as took {@link turnMs} in the turn before. */
let room = mostWork;
/** When this turn began; `NaN` if unknown, `null` if {@link startTurn} does not follow: it costs more than most turns. */
let beganMs: number | null = null;
/** Connections that rest, by what they go on with, for each network of clients, in the order of their turns. */
const resting = new Map<string, Map<() => void, Rest>>();
/** Work that connections may still do in this turn. It counts as done already. */
const granted = new Map<() => void, number>();
/** For each meter, how long connections of a network rested before they went on: the mean, in milliseconds. */
const meters = new Set<Map<string, number>>();

/**
 * Counts work. Returns whether the connection that did it must rest, so that the others have their turn: libuv reads a
 * socket up to 32 times before it goes on to the next one. `goOn` is then called in a turn with room for more of it.
 *
 * @param inARow work that the connection may do in that turn: the more in a row, the less time it takes, but what is set
 *   aside and not done leaves the turn short
 */
export function restsAfter(work: number, goOn: () => void, of: OfNetwork, inARow = work): boolean {
  if (noteWork(work, goOn) || done < room) return false;
  rest(goOn, of, inARow);
  return true;
}

/**
 * Returns whether a connection must rest before it does work, because the turn has no room or others rest already.
 * `goOn` is then called in a turn with room for it.
 */
export function restsBefore(work: number, goOn: () => void, of: OfNetwork): boolean {
  const hasRoom = done < room && resting.size === 0;
  if (hasRoom || (granted.get(goOn) ?? 0) > 0) return false;
  rest(goOn, of, work);
  return true;
}

/** Counts work. Returns whether the connection may still do some of what was set aside for it. */
export function noteWork(work: number, goOn: () => void): boolean {
  const left = granted.get(goOn) ?? 0;
  if (left > 0) granted.set(goOn, Math.max(0, left - work));
  if (left <= work) add(work - left);
  return left > work;
}

function add(work: number): void {
  done += work;
  if (done >= leastCounted) awaitTurn();
}

function awaitTurn(sinceMs = NaN): void {
  if (beganMs === null) setImmediate(startTurn);
  beganMs ??= sinceMs;
}

function rest(goOn: () => void, { network }: OfNetwork, inARow: number): void {
  const line = resting.get(network) ?? new Map<() => void, Rest>();
  resting.set(network, line.set(goOn, { inARow, sinceMs: performance.now() }));
  awaitTurn();
}

/**
 * Measures for how long connections rest, until `stop` is called. `read` returns the time since it was called before, in
 * milliseconds: the median of the networks' means, because a network with many connections makes its own ones wait.
 */
export function restMeter(): { readonly read: () => number; readonly stop: () => void } {
  const means = new Map<string, number>();
  meters.add(means);
  const read = (): number => {
    const sorted = [...means.values()].sort((a, b) => a - b);
    means.clear();
    return sorted[(sorted.length - 1) >> 1] ?? 0;
  };
  return { read, stop: () => void meters.delete(means) };
}

/** Begins a turn with the connections that rest. Otherwise those that come later could keep them waiting for ever. */
function startTurn(): void {
  const nowMs = performance.now();
  const inTime = (done * turnMs) / (nowMs - (beganMs ?? NaN)) || mostWork;
  room = Math.min(mostWork, Math.max(mostWork / 8, inTime));
  [beganMs, done] = [null, 0];
  granted.clear();
  if (resting.size > 0) awaitTurn(nowMs);
  // A network whose line goes on is put behind the others, and comes again.
  for (const [network, line] of resting) {
    if (done >= room) break;
    resting.delete(network);
    const [[goOn, { inARow, sinceMs }]] = line as unknown as [[() => void, Rest]];
    line.delete(goOn);
    if (line.size > 0) resting.set(network, line);
    const ms = performance.now() - sinceMs;
    // It follows changes within a few rests.
    for (const means of meters) means.set(network, 0.75 * (means.get(network) ?? ms) + 0.25 * ms);
    granted.set(goOn, inARow);
    add(inARow);
    goOn();
  }
}
