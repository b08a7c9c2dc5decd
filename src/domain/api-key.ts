import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AccountId, KeyId } from './ids.ts';
import type { Limits } from './limits/limits.ts';

declare const checked: unique symbol;

/**
 * An API key as text: one of ours whose checksum is right, or one of another format. It is a secret: never log it, never
 * use it as a key of anything.
 */
export type ApiKeyText = string & { readonly [checked]: 'ApiKeyText' };

/** SHA-256 of an API key, base64url: the only form in which a key is stored, cached or compared. */
export type KeyDigest = string & { readonly [checked]: 'KeyDigest' };

/** What API keys begin with unless `keys.prefix` says otherwise, before `_`: for people and for secret scanners. */
export const usualKeyPrefix = 'tgw';
/** What client secrets begin with. */
export const clientSecretPrefix = 'tgs';
/** Longest prefix of new keys, in characters. */
export const keyPrefixMaxLength = 11;

/** Random bytes in a secret: 192 bits, written as 33 base-62 digits. */
export const secretRandomBytes = 24;
const randomDigits = 33;
const checksumDigits = 6;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base = alphabet.length;
const notADigit = -1;
const underscore = 95;
/** What each ASCII character counts. */
const digits = Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)));

/**
 * Writes a new secret.
 *
 * @param prefix what it begins with, before `_`
 * @param random {@link secretRandomBytes} bytes from a cryptographic source
 */
export function formatSecret(prefix: string, random: Uint8Array): string {
  let number = 0n;
  for (const byte of random.subarray(0, secretRandomBytes)) number = number * 256n + BigInt(byte);
  const body = `${prefix}_${base62(number, randomDigits)}`;
  return body + base62(BigInt(crc32(body)), checksumDigits);
}

/** Reads an API key as a request carries it; `undefined` where it cannot be one, so that it costs no look-up. */
export type ReadApiKey = (text: string) => ApiKeyText | undefined;

/**
 * Makes the reader of API keys. A key that begins as ours do must have our checksum, so that a typo costs no look-up; any
 * other text of the right form may be a key that was imported.
 *
 * @param prefix what new keys begin with; those with the usual prefix are ours all the same
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

/** What a key of any format looks like: visible ASCII but commas, since a proxy may join repeated headers by them. */
export const apiKeyPattern = '^[!-+\\--~]{16,512}$';
const anyForm = new RegExp(apiKeyPattern);

/** Reads an API key that has one of our prefixes, the usual one unless said otherwise; `undefined` where it is none. */
export function parseApiKey(text: string, prefix: string = usualKeyPrefix): ApiKeyText | undefined {
  const start = `${prefix}_`;
  return text.startsWith(start) ? parseOwnKey(text, start) : undefined;
}

/**
 * Done for every request, so it goes by character codes: a regular expression and the checksum as text take four times as
 * long. The prefix may be longer than `start`: `acme_live` may have been configured before `acme` was, and its keys go on
 * working.
 *
 * @param start what `text` begins with
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
 * The digest under which a secret is stored. 192 random bits need no salt and no slow hash; keys of other formats are as
 * hard to guess as their makers made them.
 */
export function digestSecret(secret: string): KeyDigest {
  return hash('sha256', secret, 'base64url') as KeyDigest;
}

/** What people recognise a key by: not enough to use it. `null` where nothing is shown. */
export interface KeyHints {
  readonly prefix: string | null;
  readonly last4: string | null;
}

/** The hints of a key of ours: its prefix with the next four characters, and the last four. */
export function keyHints(apiKey: string): { readonly prefix: string; readonly last4: string } {
  const random = apiKey.length - randomDigits - checksumDigits;
  return { prefix: apiKey.slice(0, random + 4), last4: apiKey.slice(-4) };
}

/** The hints of a key of any format: of one that is not ours a quarter at most, and what the hints of ours are long. */
export function hintsOfAnyKey(apiKey: string): KeyHints {
  if (isOwnKey(apiKey)) return keyHints(apiKey);
  const first = Math.min(mostShown(apiKey) - 4, 8);
  return { prefix: first < 1 ? null : apiKey.slice(0, first), last4: apiKey.slice(-4) };
}

/** Characters of a key that its hints may show, together. */
export function mostShown(apiKey: string): number {
  if (!isOwnKey(apiKey)) return Math.floor(apiKey.length / 4);
  const { prefix, last4 } = keyHints(apiKey);
  return prefix.length + last4.length;
}

/** Whether it has our form and our checksum, whatever it begins with. */
function isOwnKey(text: string): boolean {
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

/** A key can be used until it is revoked or expires. */
export type ApiKeyStatus = 'active' | 'expired' | 'revoked';

/** An API key as operators and parents see it; the key itself is not in it. */
export interface ApiKey {
  readonly id: KeyId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly prefix: string | null;
  readonly last4: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** The key in whose place this one was made. */
  readonly rotatedFrom: KeyId | null;
  /** Of what is sent with it; none for months. */
  readonly limits: Limits;
}

/** @param nowMs milliseconds since 1970 */
export function apiKeyStatus(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, nowMs: number): ApiKeyStatus {
  if (key.revokedAt !== null) return 'revoked';
  return key.expiresAt !== null && key.expiresAt.getTime() <= nowMs ? 'expired' : 'active';
}
