import type { Random } from '../../support/coherence/random.ts';

/** Pieces of HTTP that change how bytes around them are read. */
const spices = [
  '\r\n', '\n', '\r', '\0', ' ', '\t', ':', ';', ',', '\x0b', '\x7f', '\x80', '\xff', '\r\n\r\n', '\n\n', '\r\n ', '\r\n\t',
  '0', '1', '-1', '+', '0x', 'ffffffff', '0\r\n\r\n', '\r\nContent-Length: 0', '\r\nContent-Length: 5',
  '\r\nTransfer-Encoding: chunked', '\r\nTransfer-Encoding: identity', '\r\nConnection: close', 'chunked', 'HTTP/1.1', 'HTTP/1.0',
]; // prettier-ignore

/** Changes a few bytes: some left out, some doubled, some put in, some swapped. */
export function mutate(random: Random, bytes: string): string {
  let changed = bytes;
  for (let times = 1 + random.below(3); times > 0; times--) changed = mutateOnce(random, changed);
  return changed;
}

function mutateOnce(random: Random, bytes: string): string {
  const at = random.below(bytes.length + 1);
  const length = random.chance(0.7) ? 1 + random.below(3) : random.below(40);
  const [before, piece, after] = [bytes.slice(0, at), bytes.slice(at, at + length), bytes.slice(at + length)];
  switch (random.below(6)) {
    case 0:
      return before + after;
    case 1:
      return before + piece + piece + after;
    case 2:
      return before + String.fromCharCode(random.below(256)) + after.slice(0);
    case 3:
      return before + random.pick(spices) + after;
    case 4:
      return before + random.pick(spices) + piece + after;
    default:
      return atLineEnd(random, bytes);
  }
}

/** Most of what matters is at the ends of lines. */
function atLineEnd(random: Random, bytes: string): string {
  const ends = [...bytes.matchAll(/\r\n/g)].map(({ index }) => index);
  if (ends.length === 0) return bytes + random.pick(spices);
  const end = random.pick(ends);
  return bytes.slice(0, end) + random.pick(spices) + bytes.slice(end + random.pick([0, 0, 1, 2]));
}

/** Where something pauses while it sends `length` bytes. */
export function splitsOf(random: Random, length: number, share: number): number[] {
  if (!random.chance(share) || length < 2) return [];
  const count = 1 + random.below(3);
  return Array.from({ length: count }, () => 1 + random.below(length - 1)).sort((a, b) => a - b);
}
