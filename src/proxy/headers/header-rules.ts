import { headerRule, type HeaderNames, type HeaderRule } from '../../domain/header-names.ts';

/**
 * What was worked out about header names as they were written, since that is most of the work with a header.
 *
 * Callers can make up any number of names. So only those of admitted requests are remembered, in two generations of 1,000
 * names: a full one takes the place of the one before, and names in use come back with the next request. A name of more
 * than 100 characters is never remembered.
 */
export class HeaderNameMemo<T> {
  #recent = new Map<string, T>();
  #earlier = new Map<string, T>();
  readonly #workOut: (rawName: string) => T;

  constructor(workOut: (rawName: string) => T) {
    this.#workOut = workOut;
  }

  /** For the headers of any caller: leaves nothing behind. */
  look(rawName: string): T {
    return this.#recent.get(rawName) ?? this.#earlier.get(rawName) ?? this.#workOut(rawName);
  }

  /** For the headers of an admitted request and of its response. */
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

/** The rules for names of clients' headers. */
export type HeaderRules = HeaderNameMemo<HeaderRule>;

export function headerRules(names: HeaderNames): HeaderRules {
  return new HeaderNameMemo((rawName) => headerRule(rawName, names));
}

/**
 * Adds the header names that a `Connection` header lists (RFC 9110 §7.6.1), in lower case: they are for this connection
 * only. Most messages list none, and then no set is made.
 */
export function namedByConnection(value: string, named?: Set<string>): Set<string> | undefined {
  const lower = value.toLowerCase();
  if (lower === 'keep-alive' || lower === 'close' || lower === 'upgrade') return named;
  const all = named ?? new Set<string>();
  for (const token of lower.split(',')) all.add(token.trim());
  return all;
}

/** The headers whose names are not in `named`. @param headers flat list of names and values */
export function withoutNamed(headers: readonly string[], named: ReadonlySet<string>): string[] {
  const passed: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (!named.has(name.toLowerCase())) passed.push(name, headers[i + 1] as string);
  }
  return passed;
}
