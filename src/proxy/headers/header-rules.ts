import { copyOf } from '../../http/copy-of.ts';
import { headerRule, type HeaderNames, type HeaderRule } from '../../domain/header-names.ts';

/**
 * Caches a result for each spelling of a header name, or for each short value. Without the cache, computing the results
 * would be most of the work on headers.
 *
 * Callers can make up any number of names. So only names from admitted requests and from responses are cached, and none
 * of more than 100 characters. The cache consists of two maps of at most 1,000 names each. New names go into the recent
 * map. Once the recent map is full, it becomes the earlier map, and the previous earlier map is dropped. A name that is
 * used again returns to the recent map.
 */
export class HeaderNameMemo<T> {
  #recent = new Map<string, T>();
  #earlier = new Map<string, T>();
  readonly #workOut: (rawName: string) => T;

  constructor(workOut: (rawName: string) => T) {
    this.#workOut = workOut;
  }

  /**
   * Returns the result for a header name, but does not cache a new name. Use this for requests that are not admitted
   * yet.
   */
  look(rawName: string): T {
    return this.#recent.get(rawName) ?? this.#earlier.get(rawName) ?? this.#workOut(rawName);
  }

  /** Returns the result for a header name and caches it. Use this only for an admitted request or for a response. */
  learn(rawName: string): T {
    const known = this.#recent.get(rawName);
    if (known !== undefined) return known;
    if (rawName.length > longestRemembered) return this.look(rawName);
    const name = copyOf(rawName);
    const found = this.look(name);
    if (this.#recent.size === generation) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(name, found);
    return found;
  }
}

const generation = 1_000;
const longestRemembered = 100;

/** Caches the rule for each client header name. */
export type HeaderRules = HeaderNameMemo<HeaderRule>;

export function headerRules(names: HeaderNames): HeaderRules {
  return new HeaderNameMemo((rawName) => headerRule(rawName, names));
}

/**
 * Adds the header names listed in a `Connection` header (RFC 9110 §7.6.1) to `named`, in lower case. Those headers
 * apply to this connection only. Most messages list no names, so the set is created only as needed.
 */
export function namedByConnection(value: string, named?: Set<string>): Set<string> | undefined {
  const lower = value.toLowerCase();
  if (lower === 'keep-alive' || lower === 'close' || lower === 'upgrade') return named;
  const all = named ?? new Set<string>();
  for (const token of lower.split(',')) all.add(token.trim());
  return all;
}

/** Removes the headers whose names are in `named`, in lower case. @param headers flat list of names and values */
export function withoutNamed(headers: readonly string[], named: Pick<ReadonlySet<string>, 'has'>): string[] {
  const passed: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (!named.has(name.toLowerCase())) passed.push(name, headers[i + 1] as string);
  }
  return passed;
}
