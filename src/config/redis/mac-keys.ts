import { readFileSync } from 'node:fs';

/** Fewest characters of a key: 32 hexadecimal or base64 digits hold 128 bits or more. */
const shortest = 32;

/**
 * Reads the keys in the file that `redis.mac_key_file` names: one per line, trimmed, without empty lines. The bytes of
 * the text are the key. The first key signs, and all of them verify.
 *
 * @throws TypeError if a line is too short or there is no key; errors of reading the file
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
