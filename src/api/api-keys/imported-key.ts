import { Type, type Static, type TObject } from 'typebox';
import { nameMaxLength } from '../../domain/account.ts';
import {
  apiKeyPattern,
  digestSecret,
  hintsOfAnyKey,
  importedUnder,
  mostShown,
  type KeyDigest,
  type KeyHints,
  type ReadApiKey,
} from '../../domain/api-key.ts';
import type { FieldFault } from '../../domain/problem.ts';
import { parseInstant } from '../../domain/rfc3339.ts';
import { grantableToSubAccount } from '../../domain/scope.ts';
import type { KeyToImport } from '../../ports/api-keys.ts';
import { displayName } from '../rest/display-name.ts';
import { mostImported } from '../rest/import-size.ts';
import { nullableText } from '../rest/typebox.ts';
import { expiresAtField, scopesField } from './resource.ts';

/** Members of a key in an import request. The key may belong to a parent or to a sub-account. */
export const importedKeyFields = {
  api_key: Type.Optional(
    Type.String({
      pattern: apiKeyPattern,
      description: 'an API key: 16 to 512 visible ASCII characters without comma',
    }),
  ),
  sha256: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'the SHA-256 digest of an API key, 64 hexadecimal digits in lower case',
    }),
  ),
  name: displayName('name', nameMaxLength),
  scopes: scopesField,
  expires_at: expiresAtField,
  prefix: Type.Optional(
    nullableText({ pattern: '^[!-~]{1,16}$', description: 'the first characters of the key, 16 at most' }),
  ),
  last4: Type.Optional(
    nullableText({ pattern: '^[!-~]{4}$', description: 'the last four characters of the key' }),
  ),
};

type Sent = Static<TObject<typeof importedKeyFields>>;
/** A key as the client sent it. Any member may be missing or of the wrong type. */
type Unchecked = { readonly [name in keyof Sent]?: unknown };

/** Key parser, key prefix and current time, used to check and read imported keys. */
export interface KeyRules {
  readonly readApiKey: ReadApiKey;
  /** Prefix of new keys. */
  readonly keyPrefix: string;
  /** Current time, milliseconds since 1970. */
  readonly nowMs: number;
}

/** Faults of imported keys, apart from those that the schema reports. */
export interface KeyFaults {
  /** Faults for scopes that a sub-account's key may not hold. */
  readonly ungrantable: readonly FieldFault[];
  readonly others: readonly FieldFault[];
}

/**
 * Returns the elements of the member `keys` of a body, up to {@link mostImported} of them. The result is empty if
 * `keys` is not a list.
 */
export function keysIn(body: unknown): readonly unknown[] {
  const sent = (body as { readonly keys?: unknown } | null | undefined)?.keys;
  return Array.isArray(sent) ? (sent as readonly unknown[]).slice(0, mostImported) : [];
}

/**
 * Checks keys for faults that the schema does not report.
 *
 * @param list keys as the client sent them
 * @param subMember name of the member that says which sub-account owns a key
 */
export function keyFaults(list: readonly unknown[], subMember: string, rules: KeyRules): KeyFaults {
  const ungrantable: FieldFault[] = [];
  const others: FieldFault[] = [];
  for (const [index, element] of list.entries()) {
    if (typeof element !== 'object' || element === null || Array.isArray(element)) continue;
    const key: Unchecked = element;
    const at = `/keys/${index}`;
    others.push(...secretFaults(key, at, rules.readApiKey));
    others.push(...expiryFaults(key, at, rules.nowMs), ...hintFaults(key, at, rules.readApiKey));
    const owner = (element as Readonly<Record<string, unknown>>)[subMember];
    if (typeof owner === 'string') ungrantable.push(...scopeFaults(key, at));
  }
  return { ungrantable, others };
}

/** Converts a key from the request to its stored form, without id and owner. The key must be free of faults. */
export function readKey(key: Sent, { readApiKey, keyPrefix }: KeyRules): Omit<KeyToImport, 'id' | 'owner'> {
  const { api_key: text, name, scopes = [], expires_at: expiry } = key;
  return {
    name,
    scopes,
    digest: keyDigestOf(text, key.sha256, readApiKey) as KeyDigest,
    expiresAt: typeof expiry === 'string' ? new Date(parseInstant(expiry) as number) : null,
    ...hintsOf(key),
    importedUnder: importedUnder(text, keyPrefix),
  };
}

/** Returns a fault for each key that already occurs earlier in the list. */
export function repeatedKeyFaults(list: readonly unknown[], { readApiKey }: KeyRules): FieldFault[] {
  const seen = new Map<KeyDigest, number>();
  return list.flatMap((element, index) => {
    if (typeof element !== 'object' || element === null) return [];
    const { api_key: text, sha256 }: Unchecked = element;
    const digest =
      text !== undefined && sha256 !== undefined ? undefined : keyDigestOf(text, sha256, readApiKey);
    const before = digest === undefined ? undefined : seen.get(digest);
    if (digest !== undefined && before === undefined) seen.set(digest, index);
    const pointer = `/keys/${index}/${text === undefined ? 'sha256' : 'api_key'}`;
    return before === undefined ? [] : [{ pointer, detail: `repeats the key of \`/keys/${before}\`.` }];
  });
}

/** Checks that exactly one of `api_key` and `sha256` was sent. Also checks the checksum of `api_key`. */
function secretFaults(
  { api_key: text, sha256 }: Unchecked,
  at: string,
  readApiKey: ReadApiKey,
): FieldFault[] {
  if (text === undefined && sha256 === undefined)
    return [{ pointer: at, detail: 'needs `api_key` or `sha256`.' }];
  if (text !== undefined && sha256 !== undefined)
    return [{ pointer: `${at}/sha256`, detail: 'is sent together with `api_key`: send only one of them.' }];
  // Only a key that matches the pattern is checked here. The schema reports all others.
  const isMistyped = typeof text === 'string' && anyForm.test(text) && readApiKey(text) === undefined;
  return isMistyped ? [{ pointer: `${at}/api_key`, detail: mistyped }] : [];
}

const anyForm = new RegExp(apiKeyPattern);
const mistyped =
  'begins with `keys.prefix`, but its checksum is wrong: it is mistyped or cut short. ' +
  'If another system made it, choose another `keys.prefix`.';

/**
 * Returns the digest of a key. If the client sent the key's text, the digest is computed from the text. Otherwise it is
 * read from `sha256`. Returns `undefined` if the text or `sha256` is malformed.
 */
export function keyDigestOf(text: unknown, sha256: unknown, readApiKey: ReadApiKey): KeyDigest | undefined {
  if (typeof text === 'string') {
    const key = readApiKey(text);
    return key && digestSecret(key);
  }
  return typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
    ? (Buffer.from(sha256, 'hex').toString('base64url') as KeyDigest)
    : undefined;
}

function expiryFaults({ expires_at }: Unchecked, at: string, nowMs: number): FieldFault[] {
  const instant = typeof expires_at === 'string' ? parseInstant(expires_at) : undefined;
  return instant !== undefined && instant <= nowMs
    ? [{ pointer: `${at}/expires_at`, detail: pastExpiry }]
    : [];
}

/** Fault reported if `expires_at` is in the past. */
export const pastExpiry = 'must lie in the future.';

/**
 * Checks that `prefix` and `last4` match the key and show only a small part of it. If only the key's digest was sent,
 * nothing can be checked.
 */
function hintFaults(
  { api_key: text, prefix, last4 }: Unchecked,
  at: string,
  readApiKey: ReadApiKey,
): FieldFault[] {
  if (typeof text !== 'string' || readApiKey(text) === undefined) return [];
  const faults: FieldFault[] = [];
  if (typeof prefix === 'string' && !text.startsWith(prefix))
    faults.push({ pointer: `${at}/prefix`, detail: 'is not the start of the key.' });
  if (typeof last4 === 'string' && !text.endsWith(last4))
    faults.push({ pointer: `${at}/last4`, detail: 'is not the end of the key.' });
  const shown = lengthOf(prefix) + lengthOf(last4);
  const most = mostShown(text);
  if (faults.length === 0 && shown > most) {
    const detail = `shows too much of the key: at most ${most} characters together with \`last4\`.`;
    faults.push({ pointer: `${at}/prefix`, detail });
  }
  return faults;
}

function lengthOf(hint: unknown): number {
  return typeof hint === 'string' ? hint.length : 0;
}

function scopeFaults({ scopes }: Unchecked, at: string): FieldFault[] {
  if (!Array.isArray(scopes)) return [];
  return (scopes as readonly unknown[]).flatMap((scope, index) =>
    typeof scope !== 'string' || grantableToSubAccount(scope)
      ? []
      : [
          {
            pointer: `${at}/scopes/${index}`,
            detail: 'is for parent keys alone: a sub-account manages no sub-accounts.',
          },
        ],
  );
}

/**
 * Returns the hints for a key. If the client sent the key itself without hints, both hints are taken from the key.
 * Otherwise a hint that the client did not send is `null`.
 */
function hintsOf({ api_key: text, prefix, last4 }: Sent): KeyHints {
  return text !== undefined && prefix === undefined && last4 === undefined
    ? hintsOfAnyKey(text)
    : { prefix: prefix ?? null, last4: last4 ?? null };
}
