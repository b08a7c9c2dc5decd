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
