import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AccountId, KeyId } from './ids.ts';
import type { Limits } from './limits/limits.ts';

declare const checked: unique symbol;

/**
 * Text of an API key: one of ours with a correct checksum, or a key of another format. It is a secret: never log it or
 * use it as a map or cache key.
 */
export type ApiKeyText = string & { readonly [checked]: 'ApiKeyText' };

/** SHA-256 of an API key, base64url: the only form in which a key is stored, cached or compared. */
export type KeyDigest = string & { readonly [checked]: 'KeyDigest' };

/**
 * Default of the `keys.prefix` setting: the text before `_` that lets people and secret scanners recognise API keys.
 */
export const usualKeyPrefix = 'tgw';
/** Prefix of client secrets. */
export const clientSecretPrefix = 'tgs';
/** Maximum length of the prefix for new keys, in characters. */
export const keyPrefixMaxLength = 11;

/** Matches API keys and client secrets with any prefix, even if their last characters are missing. */
export const secrets = /tg[ws]_[0-9A-Za-z]{8,}|[0-9A-Za-z_-]{1,11}_[0-9A-Za-z]{33,}/g;

/** Number of random bytes in a secret: 192 bits, written as 33 base-62 digits. */
export const secretRandomBytes = 24;
const randomDigits = 33;
const checksumDigits = 6;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base = alphabet.length;
const notADigit = -1;
const underscore = 95;
/** Base-62 value of each ASCII character; -1 for characters that are not digits. */
const digits = Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)));

/**
 * Formats a new secret.
 *
 * @param prefix text before `_`
 * @param random {@link secretRandomBytes} bytes from a cryptographically secure source
 */
export function formatSecret(prefix: string, random: Uint8Array): string {
  let number = 0n;
  for (const byte of random.subarray(0, secretRandomBytes)) number = number * 256n + BigInt(byte);
  const body = `${prefix}_${base62(number, randomDigits)}`;
  return body + base62(BigInt(crc32(body)), checksumDigits);
}

/** Parses the API key of a request. Returns `undefined` if the text cannot be a key, so that no look-up is needed. */
export type ReadApiKey = (text: string) => ApiKeyText | undefined;

/**
 * Returns a parser for API keys. A key with one of our prefixes must have a correct checksum, so a mistyped key costs
 * no look-up. Any other text that matches {@link apiKeyPattern} may be an imported key.
 *
 * @param prefix prefix for new keys; the default prefix counts as ours, too
 */
export function apiKeyReader(prefix: string = usualKeyPrefix): ReadApiKey {
  const own = `${prefix}_`;
  return (text) => {
    if (text.startsWith(own)) return parseOwnKey(text, own);
    if (text.startsWith(usual)) return parseOwnKey(text, usual);
    return anyForm.test(text) ? (text as ApiKeyText) : undefined;
  };
}

const usual = `${usualKeyPrefix}_`;

/** Pattern for API keys of any format: visible ASCII without commas, which proxies use to join repeated headers. */
export const apiKeyPattern = '^[!-+\\--~]{16,512}$';
const anyForm = new RegExp(apiKeyPattern);

/** Parses an API key that begins with `prefix`. Returns `undefined` if `text` is not such a key. */
export function parseApiKey(text: string, prefix: string = usualKeyPrefix): ApiKeyText | undefined {
  const start = `${prefix}_`;
  return text.startsWith(start) ? parseOwnKey(text, start) : undefined;
}

/**
 * Parses a key of our format character by character. This runs on every request. A regular expression, with a string
 * comparison of the checksum, would take four times as long. The key's prefix may be longer than the prefix in `start`:
 * if the configured prefix changes from `acme_live` to `acme`, keys with the old prefix keep working.
 *
 * @param start the prefix and `_` that `text` begins with; just `_` to accept any prefix
 */
function parseOwnKey(text: string, start: string): ApiKeyText | undefined {
  const { length } = text;
  const checksumAt = length - checksumDigits;
  const randomAt = checksumAt - randomDigits;
  if (randomAt < start.length || randomAt > keyPrefixMaxLength + 1) return undefined;
  if (text.charCodeAt(randomAt - 1) !== underscore) return undefined;
  let stated = 0;
  for (let i = randomAt; i < length; i++) {
    const digit = digitAt(text, i);
    if (digit === notADigit) return undefined;
    if (i >= checksumAt) stated = stated * base + digit;
  }
  return crc32(text.slice(0, checksumAt)) === stated ? (text as ApiKeyText) : undefined;
}

/**
 * Returns the digest under which a secret is stored. A secret with 192 random bits needs neither a salt nor a slow
 * hash. Imported keys are only as hard to guess as their issuers made them.
 */
export function digestSecret(secret: string): KeyDigest {
  return hash('sha256', secret, 'base64url') as KeyDigest;
}

/**
 * Parts of a key that let people recognise it, but are too short to be used in its place. A part is `null` if it is not
 * shown.
 */
export interface KeyHints {
  readonly prefix: string | null;
  readonly last4: string | null;
}

/**
 * Returns the hints for one of our keys. `prefix` is the text before `_`, the `_`, and the first four random
 * characters. `last4` is the last four characters of the key.
 */
export function keyHints(apiKey: string): { readonly prefix: string; readonly last4: string } {
  const random = apiKey.length - randomDigits - checksumDigits;
  return { prefix: apiKey.slice(0, random + 4), last4: apiKey.slice(-4) };
}

/**
 * Returns the hints for a key of any format. If the key is not one of ours, the hints show at most 12 characters and at
 * most a quarter of the key.
 */
export function hintsOfAnyKey(apiKey: string): KeyHints {
  if (isOwnKey(apiKey)) return keyHints(apiKey);
  const first = Math.min(mostShown(apiKey) - 4, 8);
  return { prefix: first < 1 ? null : apiKey.slice(0, first), last4: apiKey.slice(-4) };
}

/** Returns the maximum number of characters of a key that its hints may show in total. */
export function mostShown(apiKey: string): number {
  if (!isOwnKey(apiKey)) return Math.floor(apiKey.length / 4);
  const { prefix, last4 } = keyHints(apiKey);
  return prefix.length + last4.length;
}

/**
 * Returns the prefix to store with an imported key. For a key in our format, it is the key's own prefix. For any other
 * key, it is `keyPrefix`. If `keys.prefix` is changed later, `Store.importedKeysLike` uses the stored prefixes to find
 * imported keys that the gateway would reject as mistyped.
 *
 * @param apiKey the imported key; `undefined` if only its digest is known
 * @param keyPrefix configured prefix for new keys
 */
export function importedUnder(apiKey: string | undefined, keyPrefix: string): string {
  if (apiKey === undefined || !isOwnKey(apiKey)) return keyPrefix;
  return apiKey.slice(0, apiKey.length - randomDigits - checksumDigits - 1);
}

/** Returns whether a key has our format and a correct checksum, with any prefix. */
export function isOwnKey(text: string): boolean {
  return parseOwnKey(text, '_') !== undefined;
}

function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code < digits.length ? (digits[code] as number) : notADigit;
}

function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= BigInt(base))
    text = alphabet.charAt(Number(rest % BigInt(base))) + text;
  return text;
}

/** Status of a key; only an active key can be used. */
export type ApiKeyStatus = 'active' | 'expired' | 'revoked';

/**
 * Labels for people; no rule depends on them. They are set when a key is minted, a PATCH may change them, and a
 * rotation keeps them.
 */
export interface KeyLabels {
  readonly name: string;
}

/** An API key as operators and parents see it, without its secret. */
export interface ApiKey extends KeyLabels {
  readonly id: KeyId;
  readonly accountId: AccountId;
  readonly scopes: readonly string[];
  readonly prefix: string | null;
  readonly last4: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Id of the key that this key replaced; `null` if it replaced none. */
  readonly rotatedFrom: KeyId | null;
  /** Limits on requests with this key, per second and minute; a key has no daily or monthly limit. */
  readonly limits: Limits;
}

/**
 * Returns the status of a key at the given time.
 *
 * @param nowMs milliseconds since 1970
 */
export function apiKeyStatus(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, nowMs: number): ApiKeyStatus {
  if (key.revokedAt !== null) return 'revoked';
  return key.expiresAt !== null && key.expiresAt.getTime() <= nowMs ? 'expired' : 'active';
}
