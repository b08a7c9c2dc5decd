import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AccountId, KeyId } from './ids.ts';

declare const checked: unique symbol;

/** An API key as text whose checksum is right. It is a secret: never log it, never use it as a key of anything. */
export type ApiKeyText = string & { readonly [checked]: 'ApiKeyText' };

/** SHA-256 of an API key, base64url: the only form in which a key is stored, cached or compared. */
export type KeyDigest = string & { readonly [checked]: 'KeyDigest' };

/** `tgw_` marks an API key and `tgs_` a client secret, for people and for secret scanners. */
export type SecretKind = 'tgw' | 'tgs';

/** Random bytes in a secret: 192 bits, written as 33 base-62 digits. */
export const secretRandomBytes = 24;
const randomDigits = 33;
const checksumDigits = 6;
const keyPrefix = 'tgw_';
const keyLength = keyPrefix.length + randomDigits + checksumDigits;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base = alphabet.length;
const notADigit = -1;
/** What each ASCII character counts. */
const digits = Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)));

/** Writes a new secret. @param random {@link secretRandomBytes} bytes from a cryptographic source */
export function formatSecret(kind: SecretKind, random: Uint8Array): string {
  let number = 0n;
  for (const byte of random.subarray(0, secretRandomBytes)) number = number * 256n + BigInt(byte);
  const body = `${kind}_${base62(number, randomDigits)}`;
  return body + base62(BigInt(crc32(body)), checksumDigits);
}

/**
 * Reads an API key; `undefined` where it cannot be one, so that a typo costs no look-up. Done for every request, so it goes
 * by character codes: a regular expression and the checksum as text take four times as long.
 */
export function parseApiKey(text: string): ApiKeyText | undefined {
  if (text.length !== keyLength || !text.startsWith(keyPrefix)) return undefined;
  const checksumAt = keyLength - checksumDigits;
  let stated = 0;
  for (let i = keyPrefix.length; i < keyLength; i++) {
    const digit = digitAt(text, i);
    if (digit === notADigit) return undefined;
    if (i >= checksumAt) stated = stated * base + digit;
  }
  return crc32(text.slice(0, checksumAt)) === stated ? (text as ApiKeyText) : undefined;
}

/** The digest under which a secret is stored. 192 random bits need no salt and no slow hash. */
export function digestSecret(secret: string): KeyDigest {
  return hash('sha256', secret, 'base64url') as KeyDigest;
}

/** What people recognise a key by: not enough to use it. */
export function keyHints(apiKey: string): { readonly prefix: string; readonly last4: string } {
  return { prefix: apiKey.slice(0, 8), last4: apiKey.slice(-4) };
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
  readonly prefix: string;
  readonly last4: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** @param nowMs milliseconds since 1970 */
export function apiKeyStatus(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, nowMs: number): ApiKeyStatus {
  if (key.revokedAt !== null) return 'revoked';
  return key.expiresAt !== null && key.expiresAt.getTime() <= nowMs ? 'expired' : 'active';
}
