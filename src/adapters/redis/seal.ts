import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/** Protects values on their way through Redis, where other programs may write, too. */
export interface Seal {
  /**
   * Prefix of the names of all values. Values of another kind or version have another prefix: that of 0.1.0 is `tg:`
   * without a number, so its values are never read.
   */
  readonly prefix: string;
  /** Returns the text to store under `name`. */
  close(name: string, text: string): string;
  /** Returns the text stored under `name`; `undefined` if nothing proves that a gateway wrote it for this name. */
  open(name: string, stored: string): string | undefined;
}

/** Leaves values unsigned: any program that can write to Redis can forge them. */
const unsealed: Omit<Seal, 'prefix'> = {
  close: (_, text) => text,
  open: (_, stored) => stored,
};

/**
 * Number of bytes kept of the 32-byte code: a forger's guess is right once in 2^128, and each guess costs a write to
 * Redis.
 */
const codeBytes = 16;
const codeLength = Math.ceil((codeBytes * 4) / 3);

/**
 * Protects values by a code (HMAC-SHA-256) over name and text. The first key makes the code of a new value. A value
 * that is read may have the code of any key, so that keys can be replaced on one replica after the other. Without
 * keys, values are not protected.
 *
 * @param keys at least 32 bytes each
 * @param place database that values come from, see `databasePlace`
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

/** No name holds a line feed, so no other pair of name and text has the same code. */
function codeOf(key: KeyObject, name: string, text: string): Buffer {
  return createHmac('sha256', key).update(`${name}\n${text}`).digest().subarray(0, codeBytes);
}

function isCode(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
