import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/** How values are protected on their way through Redis, which may hold what other programs wrote. */
export interface Seal {
  /** What the names of all values begin with. Values of another kind or version stand beside them, under other names. */
  readonly prefix: string;
  /** The text to store under `name`. */
  close(name: string, text: string): string;
  /** What was stored under `name`; `undefined` where it does not prove that a gateway wrote it, for this name. */
  open(name: string, stored: string): string | undefined;
}

/** Values as they are: a program that can write to Redis can make them up. */
const unsealed: Omit<Seal, 'prefix'> = {
  close: (_, text) => text,
  open: (_, stored) => stored,
};

/** Of a 256-bit code 128 bits are kept: a forger has one try in 2^128, and each costs a write to Redis. */
const codeBytes = 16;
const codeLength = Math.ceil((codeBytes * 4) / 3);

/**
 * With keys, each value carries a code (HMAC-SHA-256) over its name and its text: the first key makes it, and each is tried
 * in turn on what comes back, so that keys can be exchanged one replica after the other. Without any, values are not protected.
 *
 * @param keys at least 32 bytes each
 * @param place of the database that values come from, see `databasePlace`
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

/** No name holds a line feed, so that no other pair of name and text has the same code. */
function codeOf(key: KeyObject, name: string, text: string): Buffer {
  return createHmac('sha256', key).update(`${name}\n${text}`).digest().subarray(0, codeBytes);
}

function isCode(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
