import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/** Lets a gateway recognise values that another program has forged in Redis. */
export interface Seal {
  /**
   * Prefix of the names of all values. Each format of values has its own prefix. The prefix of 0.1.0 is `tg:` without a
   * number, so values of 0.1.0 are never read.
   */
  readonly prefix: string;
  /** Returns the value to store under `name` for this text. */
  close(name: string, text: string): string;
  /**
   * Returns the text in the value that is stored under `name`; `undefined` if the value carries no valid code for that
   * name.
   */
  open(name: string, stored: string): string | undefined;
}

/** Leaves values unsigned, so any program that can write to Redis can forge them. */
const unsealed: Omit<Seal, 'prefix'> = {
  close: (_, text) => text,
  open: (_, stored) => stored,
};

/**
 * Number of bytes that are kept of the 32-byte code. A guess is right once in 2^128 attempts, and each attempt costs a
 * forger a write to Redis.
 */
const codeBytes = 16;
const codeLength = Math.ceil((codeBytes * 4) / 3);

/**
 * Returns a seal that puts a code (HMAC-SHA-256) over name and text before each text. New values get the code of the
 * first MAC key. A value that is read may have the code of any MAC key, so that operators can replace the keys replica
 * by replica. Without MAC keys, values are not protected.
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

/** Returns the code over name and text. No name contains a line feed, so the text never counts as part of the name. */
function codeOf(key: KeyObject, name: string, text: string): Buffer {
  return createHmac('sha256', key).update(`${name}\n${text}`).digest().subarray(0, codeBytes);
}

function isCode(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
