import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/** Lets a gateway detect values in Redis that another program has forged. */
export interface Seal {
  /**
   * Prefix of all value names. It contains the number of the value format, such as `tg:2:`, so values in other formats
   * are never read.
   */
  readonly prefix: string;
  /** Returns the value to store for `text` under `name`. */
  close(name: string, text: string): string;
  /** Returns the text of the value stored under `name`; `undefined` if its authentication code is not valid. */
  open(name: string, stored: string): string | undefined;
}

/** Leaves values unsigned, so any program that can write to Redis can forge them. */
const unsealed: Omit<Seal, 'prefix'> = {
  close: (_, text) => text,
  open: (_, stored) => stored,
};

/**
 * Length of the authentication code in bytes: the first half of a 32-byte HMAC. A guess succeeds once in 2^128
 * attempts, and each attempt costs a forger a write to Redis.
 */
const codeBytes = 16;
const codeLength = Math.ceil((codeBytes * 4) / 3);

/**
 * Returns a seal that prefixes each text with an authentication code, made from the HMAC-SHA-256 of name and text. New
 * values are signed with the first MAC key. Values that are read may be signed with any of the MAC keys, so that
 * operators can replace the keys one replica at a time. Without MAC keys, values are not protected.
 *
 * @param keys MAC keys of at least 32 bytes each
 * @param place result of `databasePlace` for the database that the values come from
 */
export function sealFor(keys: readonly Buffer[], place: string): Seal {
  const [first, ...others] = keys.map((key) => createSecretKey(key));
  if (first === undefined) return { prefix: `tg:2:${place}:`, ...unsealed };
  return {
    prefix: `tg:2s:${place}:`,
    close: (name, text) => codeOf(first, name, text).toString('base64url') + text,
    open: (name, stored) => {
      if (stored.length < codeLength) return undefined;
      const code = Buffer.from(stored.slice(0, codeLength), 'base64url');
      const text = stored.slice(codeLength);
      const proven = [first, ...others].some((key) => isCode(code, codeOf(key, name, text)));
      return proven ? text : undefined;
    },
  };
}

/**
 * Returns the authentication code of a name and its text. Names never contain a line feed, so the first line feed
 * always separates name and text.
 */
function codeOf(key: KeyObject, name: string, text: string): Buffer {
  return createHmac('sha256', key).update(`${name}\n${text}`).digest().subarray(0, codeBytes);
}

function isCode(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
