import { Type, type Static } from 'typebox';
import { nameMaxLength } from '../../domain/account.ts';
import {
  apiKeyPattern,
  digestSecret,
  hintsOfAnyKey,
  mostShown,
  type KeyDigest,
  type KeyHints,
  type ReadApiKey,
} from '../../domain/api-key.ts';
import { parseAccountId, type AccountId } from '../../domain/ids.ts';
import type { FieldFault, Problem } from '../../domain/problem.ts';
import { parseInstant } from '../../domain/rfc3339.ts';
import { grantableToSubAccount } from '../../domain/scope.ts';
import { invalidRequest } from '../../http/invalid-request.ts';
import type { KeyToImport } from '../../ports/api-keys.ts';
import { displayName } from '../rest/display-name.ts';
import { closed, nullableText } from '../rest/typebox.ts';
import { expiresAtField, scopesField } from './resource.ts';

/** Keys in one import at most. */
export const mostImported = 1_000;

const importedKey = closed({
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
  sub_account_id: Type.Optional(nullableText()),
});

/** The request to import. */
export const importBody = closed({
  keys: Type.Array(importedKey, { minItems: 1, maxItems: mostImported }),
});

/** What an import is read by. */
export interface ImportRules {
  /** The account in the path. */
  readonly parent: AccountId | undefined;
  readonly readApiKey: ReadApiKey;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  readonly newId: () => KeyToImport['id'];
}

type Sent = Static<typeof importedKey>;
/** What was sent, where the schema may have found faults: any member may be missing or of another type. */
type Unchecked = { readonly [name in keyof Sent]?: unknown };

/**
 * Reads an import: the keys, or one problem that names every fault of every key.
 *
 * @param body as it was sent
 * @param schemaFaults what its schema found
 */
export function readImport(
  body: unknown,
  schemaFaults: readonly FieldFault[],
  rules: ImportRules,
): { readonly keys: readonly KeyToImport[] } | { readonly problem: Problem } {
  const sent = (body as { readonly keys?: unknown } | null | undefined)?.keys;
  const list = Array.isArray(sent) ? (sent as readonly unknown[]).slice(0, mostImported) : [];
  const seen = new Map<KeyDigest, number>();
  const ungrantable: FieldFault[] = [];
  const others: FieldFault[] = [...schemaFaults];
  for (const [index, element] of list.entries()) {
    if (typeof element !== 'object' || element === null || Array.isArray(element)) continue;
    const key: Unchecked = element;
    const at = `/keys/${index}`;
    others.push(...secretFaults(key, at, index, seen, rules.readApiKey));
    others.push(...otherFaults(key, at, rules.nowMs), ...hintFaults(key, at, rules.readApiKey));
    ungrantable.push(...scopeFaults(key, at));
  }
  const faults = [...others, ...ungrantable].sort((a, b) => indexOf(a) - indexOf(b));
  if (faults.length > 0) {
    const problem = invalidRequest(faults, mostImported);
    return { problem: others.length > 0 ? problem : { ...problem, code: 'scope_not_grantable' } };
  }
  return { keys: (list as readonly Sent[]).map((key) => toImport(key, rules)) };
}

/** The position of the key that a fault is about. */
function indexOf({ pointer }: FieldFault): number {
  return Number(pointer.split('/')[2] ?? -1);
}

/** Whether there is one key or one digest of it, right, and not twice in the list. */
function secretFaults(
  { api_key: text, sha256 }: Unchecked,
  at: string,
  index: number,
  seen: Map<KeyDigest, number>,
  readApiKey: ReadApiKey,
): FieldFault[] {
  if (text === undefined && sha256 === undefined)
    return [{ pointer: at, detail: 'needs `api_key` or `sha256`.' }];
  if (text !== undefined && sha256 !== undefined)
    return [{ pointer: `${at}/sha256`, detail: 'stands beside `api_key`: send one of them.' }];
  const pointer = `${at}/${text === undefined ? 'sha256' : 'api_key'}`;
  // Of another form the schema has said so already.
  const digest = digestOf(text, sha256, readApiKey);
  if (digest === undefined) {
    return typeof text === 'string' && anyForm.test(text) ? [{ pointer, detail: mistyped }] : [];
  }
  const before = seen.get(digest);
  if (before !== undefined) return [{ pointer, detail: `is the key of \`/keys/${before}\` once more.` }];
  seen.set(digest, index);
  return [];
}

const anyForm = new RegExp(apiKeyPattern);
const mistyped = 'begins like a key of this service, but its checksum is wrong: it is mistyped or cut short.';

function digestOf(text: unknown, sha256: unknown, readApiKey: ReadApiKey): KeyDigest | undefined {
  if (typeof text === 'string') {
    const key = readApiKey(text);
    return key && digestSecret(key);
  }
  return typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
    ? (Buffer.from(sha256, 'hex').toString('base64url') as KeyDigest)
    : undefined;
}

function otherFaults({ expires_at, sub_account_id }: Unchecked, at: string, nowMs: number): FieldFault[] {
  const faults: FieldFault[] = [];
  const instant = typeof expires_at === 'string' ? parseInstant(expires_at) : undefined;
  if (instant !== undefined && instant <= nowMs)
    faults.push({ pointer: `${at}/expires_at`, detail: 'must lie in the future.' });
  if (typeof sub_account_id === 'string' && parseAccountId(sub_account_id) === undefined)
    faults.push({ pointer: `${at}/sub_account_id`, detail: noSubAccount });
  return faults;
}

/** What is said of a `sub_account_id` that names none of the account, whatever else it names. */
export const noSubAccount = 'is no sub-account of this account.';

/** A hint must be a part of the key, and leave most of it out. Of a digest there is nothing to compare it with. */
function hintFaults(
  { api_key: text, prefix, last4 }: Unchecked,
  at: string,
  readApiKey: ReadApiKey,
): FieldFault[] {
  if (typeof text !== 'string' || readApiKey(text) === undefined) return [];
  const faults: FieldFault[] = [];
  if (typeof prefix === 'string' && !text.startsWith(prefix))
    faults.push({ pointer: `${at}/prefix`, detail: 'is not what the key begins with.' });
  if (typeof last4 === 'string' && !text.endsWith(last4))
    faults.push({ pointer: `${at}/last4`, detail: 'is not what the key ends with.' });
  const shown = lengthOf(prefix) + lengthOf(last4);
  const most = mostShown(text);
  if (faults.length === 0 && shown > most) {
    const detail = `shows too much of the key: with \`last4\` ${most} characters at most.`;
    faults.push({ pointer: `${at}/prefix`, detail });
  }
  return faults;
}

function lengthOf(hint: unknown): number {
  return typeof hint === 'string' ? hint.length : 0;
}

function scopeFaults({ scopes, sub_account_id }: Unchecked, at: string): FieldFault[] {
  if (typeof sub_account_id !== 'string' || !Array.isArray(scopes)) return [];
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

/** @param key without faults */
function toImport(key: Sent, { parent, readApiKey, newId }: ImportRules): KeyToImport {
  const { api_key: text, name, scopes = [], expires_at: expiry, sub_account_id: sub } = key;
  return {
    id: newId(),
    owner: (typeof sub === 'string' ? parseAccountId(sub) : parent) as AccountId,
    name,
    scopes,
    digest: digestOf(text, key.sha256, readApiKey) as KeyDigest,
    expiresAt: typeof expiry === 'string' ? new Date(parseInstant(expiry) as number) : null,
    ...hintsOf(key),
  };
}

/** Those given; where neither is, they are taken from the key. */
function hintsOf({ api_key: text, prefix, last4 }: Sent): KeyHints {
  return text !== undefined && prefix === undefined && last4 === undefined
    ? hintsOfAnyKey(text)
    : { prefix: prefix ?? null, last4: last4 ?? null };
}
