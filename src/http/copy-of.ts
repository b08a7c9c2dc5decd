/**
 * Returns a copy of Latin-1 text that is kept for long. V8 represents a part of a string as a view of the whole, so a
 * name or an address taken from a head would keep the whole head in memory, with the key in it.
 */
export function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
