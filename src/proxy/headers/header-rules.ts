import { headerRule, type HeaderNames, type HeaderRule } from '../../domain/header-names.ts';

/**
 * Remembers a result for each header name, as written, because computing the results is most of the work on headers.
 *
 * Callers can make up any number of names. So only names of admitted requests are remembered, in two generations of
 * 1,000 names each. When the newer generation is full, it replaces the older one, and names in use are remembered again
 * with the next request. A name of more than 100 characters is never remembered.
 */
export class HeaderNameMemo<T> {
  #recent = new Map<string, T>();
  #earlier = new Map<string, T>();
  readonly #workOut: (rawName: string) => T;

  constructor(workOut: (rawName: string) => T) {
    this.#workOut = workOut;
  }

  /**
   * Returns the result for a header of any caller. The name is not remembered, because made-up names could fill memory.
   */
  look(rawName: string): T {
    return this.#recent.get(rawName) ?? this.#earlier.get(rawName) ?? this.#workOut(rawName);
  }

  /** Returns the result for a header of an admitted request or of its response, and remembers it. */
  learn(rawName: string): T {
    const known = this.#recent.get(rawName);
    if (known !== undefined) return known;
    const found = this.look(rawName);
    if (rawName.length > longestRemembered) return found;
    if (this.#recent.size === generation) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(rawName, found);
    return found;
  }
}

const generation = 1_000;
const longestRemembered = 100;

/** Remembers the rule for each name of a client's header. */
export type HeaderRules = HeaderNameMemo<HeaderRule>;

export function headerRules(names: HeaderNames): HeaderRules {
  return new HeaderNameMemo((rawName) => headerRule(rawName, names));
}

/**
 * Adds the header names that are listed in a `Connection` header (RFC 9110 §7.6.1) to `named`, in lower case. These
 * headers belong to this connection only. Most messages list no names, so the set is created only when needed.
 */
export function namedByConnection(value: string, named?: Set<string>): Set<string> | undefined {
  const lower = value.toLowerCase();
  if (lower === 'keep-alive' || lower === 'close' || lower === 'upgrade') return named;
  const all = named ?? new Set<string>();
  for (const token of lower.split(',')) all.add(token.trim());
  return all;
}

/** Removes the headers whose names are in `named`. @param headers flat list of names and values */
export function withoutNamed(headers: readonly string[], named: ReadonlySet<string>): string[] {
  const passed: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (!named.has(name.toLowerCase())) passed.push(name, headers[i + 1] as string);
  }
  return passed;
}
