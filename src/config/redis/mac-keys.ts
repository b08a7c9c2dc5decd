import { readFileSync } from 'node:fs';

/** Minimum number of characters in a MAC key. 32 hexadecimal or base64 digits hold at least 128 bits. */
const shortest = 32;

/**
 * Reads the MAC keys in the file that `redis.mac_key_file` names. Each non-empty line is a MAC key: its UTF-8 bytes,
 * without leading or trailing spaces. The first key signs values; a value is valid if any of the keys verifies it.
 *
 * @throws TypeError if a MAC key is too short or there is none; also any error from reading the file
 */
export function readMacKeys(file: string): readonly [Buffer, ...Buffer[]] {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [first, ...others] = lines.map((line) => Buffer.from(line, 'utf8'));
  if (first === undefined) throw new TypeError('the file holds no key');
  if (lines.some((line) => line.length < shortest))
    throw new TypeError(`each line must be a key of at least ${shortest} characters`);
  return [first, ...others];
}
