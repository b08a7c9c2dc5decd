import { readFileSync } from 'node:fs';

/** Characters of a key at least: 32 of base64 or hexadecimal digits hold 128 bits or more. */
const shortest = 32;

/**
 * The keys in the file that `redis.mac_key_file` names: one a line, blanks around them and empty lines aside. Each is used as it is
 * written. The first one signs, all of them verify.
 *
 * @throws TypeError where a line is too short or there is none; and what reading the file throws
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
