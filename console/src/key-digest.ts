import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * SHA-256 of an API key, as lower-case hexadecimal: what the operator API finds a key by. `crypto.subtle` does not exist
 * on a page that came by plain HTTP.
 */
export function keyDigest(key: string): string {
  return bytesToHex(sha256(utf8ToBytes(key)));
}
