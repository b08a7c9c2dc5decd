import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { guarded } from '../../http/guarded.ts';
import type { Clock } from '../../ports/clock.ts';

/** Addresses of a host name: a list for each family, the preferred one first. They hold for `ttlMs` milliseconds. */
export interface Addresses {
  readonly families: readonly (readonly LookupAddress[])[];
  readonly ttlMs: number;
}

/** `lookup` of `node:net`. Returns a function that forgets the callback. */
export type Lookup = (...args: Parameters<LookupFunction>) => () => void;

/** Bounds of the milliseconds for which addresses are remembered. A failure is remembered for the lower one. */
const rememberedMs = { least: 1_000, most: 30_000 };
/** Milliseconds for which addresses are used again while name servers cannot tell. */
const keptMs = 600_000;

interface Name {
  /** Called with the answer; `null` once there is one. */
  waiting: Set<() => void> | null;
  answer: Addresses | Error | null;
  /** Monotonic time until which the answer is remembered. */
  untilMs: number;
  /** Number of times that the answer was used, each time with another address first. */
  uses: number;
  /** Addresses found last, and the monotonic time of that. */
  found: { readonly addresses: Addresses; readonly atMs: number } | null;
  /** Whether the last look-up failed, and `found` is used again. Requests do not wait for the next one then. */
  isDoubtful: boolean;
}

export interface NamesParts {
  /** Finds the addresses of a host name, within a bounded time. The error `ENOTFOUND` says that there are none. */
  readonly resolve: (host: string) => Promise<Addresses>;
  readonly clock: Clock;
  /** Called after each look-up. */
  readonly observe: (ms: number, isFound: boolean) => void;
  /** Logs an exception that belongs to no exchange. */
  readonly report: (error: unknown) => void;
}

/**
 * Looks up host names. Look-ups of one name are joined, and no name waits for another. The names are those of the
 * configuration, which has at most 1,000 routes.
 */
export class Names {
  /** Names in the order of their last look-ups. */
  readonly #names = new Map<string, Name>();
  readonly #parts: NamesParts;

  constructor(parts: NamesParts) {
    this.#parts = parts;
  }

  readonly lookup: Lookup = (host, { all }, done) => {
    const { clock, report } = this.#parts;
    const known = this.#names.get(host);
    const name = known !== undefined && clock.monotonicMs() < known.untilMs ? known : this.#look(host);
    const answered = guarded({ broke: report }, () => {
      if (name.answer === null || name.answer instanceof Error) return done(name.answer, []);
      const use = name.uses++;
      const addresses = name.answer.families.flatMap((each) => turned(each, use % each.length));
      if (all === true) done(null, addresses);
      else done(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
    if (name.waiting === null) process.nextTick(answered);
    else name.waiting.add(answered);
    return () => name.waiting?.delete(answered);
  };

  #look(host: string): Name {
    const { resolve, clock, observe, report } = this.#parts;
    const sinceMs = clock.monotonicMs();
    const { found = null, isDoubtful = false } = this.#names.get(host) ?? {};
    this.#names.delete(host);
    for (const [other, { untilMs }] of this.#names) {
      if (untilMs + keptMs > sinceMs) break;
      this.#names.delete(other);
    }
    const answer = isDoubtful && found !== null && sinceMs < found.atMs + keptMs ? found.addresses : null;
    const waiting = answer === null ? new Set<() => void>() : null;
    const name: Name = { waiting, answer, untilMs: Infinity, uses: 0, found, isDoubtful };
    this.#names.set(host, name);
    const settle = guarded({ broke: report }, (result: Addresses | NodeJS.ErrnoException) => {
      const nowMs = clock.monotonicMs();
      const isFound = !(result instanceof Error);
      const { least, most } = rememberedMs;
      const holdsMs = isFound ? Math.min(most, Math.max(least, result.ttlMs)) : least;
      if (isFound) name.found = { addresses: result, atMs: nowMs };
      else if (result.code === 'ENOTFOUND') name.found = null;
      const isKept = isFound || nowMs < (name.found?.atMs ?? -Infinity) + keptMs;
      name.answer = isKept && name.found !== null ? name.found.addresses : result;
      name.waiting = null;
      name.untilMs = nowMs + holdsMs;
      name.isDoubtful = isKept && !isFound;
      for (const answered of waiting ?? []) answered();
      observe(nowMs - sinceMs, isFound);
    });
    void resolve(host).then(settle, settle);
    return name;
  }
}

function turned<T>(list: readonly T[], at: number): T[] {
  return [...list.slice(at), ...list.slice(0, at)];
}
